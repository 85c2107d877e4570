// Line breaks of names in tables: a short name is never broken, and a long name is broken after a separator.
for (const code of document.querySelectorAll("main td code")) {
  const text = code.textContent;
  const isCrowded = code.closest("tr").cells.length > 4;
  if (text.length <= (isCrowded ? 12 : 28)) {
    code.classList.add("short");
    continue;
  }
  const parts = text.split(/(?<=[_:/,&(])(?=[^_:])|(?<=\w\.)(?=\w)/);
  code.replaceChildren(...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
}
