// Replaces links to source files by their names, because the book does not contain these files.
for (const link of document.querySelectorAll('main a[href$=".rs"], main a[href$=".toml"]')) {
  const name = document.createElement("span");
  name.title = link.getAttribute("href").replace(/^(\.\.\/)+/, "");
  name.append(...link.childNodes);
  link.replaceWith(name);
}
