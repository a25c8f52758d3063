# cmake -Dmodule=<file> -Dstubs=<folder> -Dpackage=<folder> -P place.cmake
#
# Put the built module and its stubs into `package`, the folder of assay._core.
file(REMOVE_RECURSE "${package}/_ext")
file(GLOB files "${stubs}/_ext/*.pyi")
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  file(READ "${file}" text)
  string(REPLACE "from _ext import" "from . import" text "${text}")
  file(WRITE "${package}/_ext/${name}" "${text}")
endforeach()

# Renamed into place: a running process keeps the module that it has mapped.
cmake_path(GET module FILENAME name)
file(COPY_FILE "${module}" "${package}/${name}.new")
file(RENAME "${package}/${name}.new" "${package}/${name}")
file(TOUCH "${stubs}/placed")
