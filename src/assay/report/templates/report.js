// Starts the charts of the page. vegaEmbed comes with the bundle; `ast` makes Vega interpret its
// expressions, so that the page needs no eval.
const specs = JSON.parse(document.getElementById("charts").textContent);
const options = {
  mode: "vega-lite",
  ast: true,
  actions: false,
  renderer: "svg",
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};
for (const [id, spec] of Object.entries(specs)) {
  const holder = document.getElementById(id);
  vegaEmbed(holder, spec, options).then(
    () => holder.classList.add("drawn"),
    (error) => {
      holder.textContent = "This chart could not be drawn; the numbers are in the table.";
      console.error(error);
    },
  );
}
// Paper cannot be clicked: open everything that is folded, and fold it again afterwards.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of folded) part.open = false;
});
