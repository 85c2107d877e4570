// Links to source files are for readers of the repository. The book does not carry these files: the name stays, without the link.
for (const link of document.querySelectorAll('main a[href$=".rs"], main a[href$=".toml"]')) {
  const name = document.createElement("span");
  name.title = link.getAttribute("href").replace(/^(\.\.\/)+/, "");
  name.append(...link.childNodes);
  link.replaceWith(name);
}
