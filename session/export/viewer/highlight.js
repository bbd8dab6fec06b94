// Colours for code: a scanner for comments, strings, numbers and words that is the same for every language
// but for what starts a comment and which words are its own.

const maxHighlight = 100_000; // characters; longer code is plain

const words = (s) => new Set(s.split(" "));
const cWords = "break case const continue default do else enum extern false for goto if inline int long char double float void bool return short signed sizeof static struct switch true typedef union unsigned volatile while class namespace template public private protected virtual override new delete this throw try catch using auto nullptr NULL";
const jsWords = "abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace never new null number of private protected public readonly return set static string super switch this throw true try type typeof undefined unknown var void while with yield";
const families = {
  c: { line: ["//"], block: true, words: words(cWords) },
  js: { line: ["//"], block: true, tick: true, words: words(jsWords) },
  go: { line: ["//"], block: true, tick: true, words: words("any append bool break byte cap case chan const continue copy default defer delete else error fallthrough false float64 for func go goto if import int int64 interface iota len make map new nil package panic range recover return rune select string struct switch true type uint var") },
  java: { line: ["//"], block: true, words: words(jsWords + " final package int long double float char byte short throws synchronized fun val when object data sealed internal func guard let protocol extension nil self init foreach namespace using var record") },
  rust: { line: ["//"], block: true, noApostrophe: true, words: words("as async await bool box break const continue crate dyn else enum extern false fn for i32 i64 if impl in let loop match mod move mut None Ok Err Option pub ref Result return self Self Some static str String struct super trait true type u8 u32 u64 unsafe use usize Vec where while") },
  py: { line: ["#"], triple: true, words: words("and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return self True try while with yield match case") },
  rb: { line: ["#"], words: words("alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield") },
  sh: { line: ["#"], dollar: true, words: words("case do done elif else esac exit export fi for function if in local return select set shift source then trap unset until while cd echo") },
  sql: { line: ["--"], block: true, fold: true, words: words("add all alter and as asc begin between by case check column commit constraint create default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with") },
  data: { line: ["#"], words: words("true false null yes no on off") },
  json: { line: [], words: words("true false null") },
  css: { line: [], block: true, words: words("important media import supports keyframes from to root") },
};
const languages = {
  c: "c", h: "c", cc: "c", cpp: "c", "c++": "c", cxx: "c", hpp: "c", objc: "c",
  js: "js", mjs: "js", cjs: "js", jsx: "js", ts: "js", mts: "js", tsx: "js", javascript: "js", typescript: "js",
  go: "go", golang: "go", java: "java", kt: "java", kotlin: "java", swift: "java", cs: "java", csharp: "java", scala: "java", dart: "java", php: "java", proto: "java",
  rs: "rust", rust: "rust", py: "py", python: "py", rb: "rb", ruby: "rb", lua: "sql",
  sh: "sh", bash: "sh", zsh: "sh", shell: "sh", fish: "sh", console: "sh", dockerfile: "sh", make: "sh", makefile: "sh",
  sql: "sql", yaml: "data", yml: "data", toml: "data", ini: "data", conf: "data", tf: "data", hcl: "data",
  json: "json", jsonc: "js", jsonl: "json", json5: "js", css: "css", scss: "css", less: "css",
};

/** languageOf guesses the language of a file from its name. */
function languageOf(path) {
  const name = path.toLowerCase().split(/[\\/]/).pop();
  const dot = name.lastIndexOf(".");
  const key = dot < 0 ? name : name.slice(dot + 1);
  return Object.hasOwn(languages, key) ? key : "";
}

/** highlight splits code into [class, text] pairs, whose texts are the code again. */
function highlight(code, lang) {
  const key = lang.toLowerCase();
  if (key === "diff" || key === "patch") return diffTokens(code);
  if (code.length > maxHighlight || !Object.hasOwn(languages, key)) return [["", code]];
  return tokens(code, families[languages[key]]);
}

function diffTokens(code) {
  return code.split(/(?<=\n)/).map((line) => {
    if (/^(?:\+\+\+|---|diff |index )/.test(line)) return ["c", line];
    return [{ "+": "ins", "-": "del", "@": "k" }[line[0]] ?? "", line];
  });
}

function tokens(code, family) {
  const out = [];
  let plain = 0;
  const scan = scanner(family);
  for (let m; (m = scan.exec(code));) {
    if (m[0] === "") break;
    const kind = kindOf(m[0], code, scan.lastIndex, family);
    if (!kind) continue;
    if (m.index > plain) out.push(["", code.slice(plain, m.index)]);
    out.push([kind, m[0]]);
    plain = scan.lastIndex;
  }
  if (plain < code.length) out.push(["", code.slice(plain)]);
  return out;
}

function scanner(family) {
  if (family.scan) {
    family.scan.lastIndex = 0;
    return family.scan;
  }
  const parts = [];
  if (family.triple) parts.push('"""[^]*?(?:"""|$(?![^]))', "'''[^]*?(?:'''|$(?![^]))");
  for (const mark of family.line) parts.push((mark === "#" ? "(?<![\\w$&{])" : "") + mark + "[^\\n]*");
  if (family.block) parts.push("/\\*[^]*?(?:\\*/|$(?![^]))");
  parts.push('"(?:[^"\\\\\\n]|\\\\.)*"?');
  if (!family.noApostrophe) parts.push("'(?:[^'\\\\\\n]|\\\\.)*'?");
  if (family.tick) parts.push("`(?:[^`\\\\]|\\\\[^])*`?");
  if (family.dollar) parts.push("\\$\\{?\\w+\\}?");
  parts.push("\\b\\d[\\w.]*", "[A-Za-z_][\\w]*");
  return (family.scan = new RegExp(parts.join("|"), "g"));
}

function kindOf(token, code, end, family) {
  const c = token[0];
  if (family.line.some((mark) => token.startsWith(mark)) || token.startsWith("/*")) return "c";
  if (c === '"' && family === families.json && /^\s*:/.test(code.slice(end, end + 8))) return "a";
  if (c === '"' || c === "'" || c === "`") return "s";
  if (c === "$") return "a";
  if (/\d/.test(c)) return "n";
  if (family.words.has(family.fold ? token.toLowerCase() : token)) return "k";
  return code[end] === "(" ? "f" : "";
}
