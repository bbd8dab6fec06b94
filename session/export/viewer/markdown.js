// The page's rules for links in Markdown. rendering.gen.js, shared with the VS Code panel, parses Markdown to nodes;
// dom.js creates elements from them.

const { highlight, languageOf, editsOf } = rendering;

const maxHref = 4096; // characters; references could repeat a longer address on every line

/** safeLink returns the address if it is safe to follow, else "". */
function safeLink(target) {
  return target.length <= maxHref && /^(?:https?:\/\/|mailto:)[^\s\u0000-\u001f\u007f"<>\\]+$/i.test(target) ? target : "";
}

/** parseMarkdown returns the nodes of a text. */
const parseMarkdown = (text) => rendering.parseMarkdown(text, { link: linkNodes, headingOffset: 2 });

/**
 * linkNodes returns the nodes of a link. The address is visible if the link is not safe to follow, such as a file, or
 * if its label is a different address.
 */
function linkNodes({ href, form }, label) {
  const target = safeLink(href);
  const address = preview(href, 300);
  const written = form === "bare" || form === "autolink";
  if (target) return [["a", { href: target }, ...(label.length ? label : [target]), ...(!written && misleads(label, target) ? [" (" + address + ")"] : [])]];
  if (form === "autolink") return ["<", ...label, ">"];
  if (form === "bare") return label;
  return [["span", null, ...label, ...(address ? [" (", ["code", null, address], ")"] : [])]];
}

/** misleads reports whether a label is an address other than the link's target. */
function misleads(label, target) {
  const words = rendering.textOf(label).trim();
  return /^(?:[a-z]+:\/\/|www\.)/i.test(words) && words !== target;
}
