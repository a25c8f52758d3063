// A buffer that starts on a cache line, for packed tiles and vector loads.
//
// Needs   T trivial: values are not initialised.
// Cost    one allocation; movable, not copyable.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace assay {

inline constexpr std::size_t cache_line = 64;

template <class T>
class AlignedBuffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    AlignedBuffer() = default;
    explicit AlignedBuffer(std::size_t size)
        : data_(static_cast<T*>(operator new(size * sizeof(T), std::align_val_t{cache_line}))),
          size_(size) {}

    [[nodiscard]] T* data() noexcept { return data_.get(); }
    [[nodiscard]] const T* data() const noexcept { return data_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept {
        assert(i < size_);
        return data_.get()[i];
    }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept {
        assert(i < size_);
        return data_.get()[i];
    }
    [[nodiscard]] T* begin() noexcept { return data(); }
    [[nodiscard]] T* end() noexcept { return data() + size_; }
    [[nodiscard]] const T* begin() const noexcept { return data(); }
    [[nodiscard]] const T* end() const noexcept { return data() + size_; }

  private:
    struct Free {
        void operator()(T* data) const noexcept {
            operator delete(data, std::align_val_t{cache_line});
        }
    };

    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace assay
