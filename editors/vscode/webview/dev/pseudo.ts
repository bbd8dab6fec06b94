// A language for tests: each text is in ⟦brackets⟧, accented, and 40 % longer, so that any other text is one without a
// translation, and a text that does not fit is found.

const accented: Record<string, string> = Object.fromEntries(
  [...'aáAÁcçCÇdđDĐeéEÉgğGĞiíIÍlłLŁnñNÑoóOÓrřRŘsšSŠtţTŢuúUÚyýYÝzžZŽ'.matchAll(/(.)(.)/gu)].map(([, a, b]) => [a!, b!]),
);

/** Parts of texts that a translation keeps: values, icons, and the targets of links. */
const kept = /\{\d+\}|\$\([\w-]+\)|\]\([^)]*\)|`[^`]*`|<[^>]*>/g;

const longer = 0.4;

/** Returns a text in that language. */
export function pseudo(text: string): string {
  let out = '';
  let from = 0;
  for (const { 0: part, index } of text.matchAll(kept)) {
    out += accent(text.slice(from, index)) + part;
    from = index + part.length;
  }
  out += accent(text.slice(from));
  return `⟦${out}${'~'.repeat(Math.ceil(text.length * longer))}⟧`;
}

const accent = (text: string): string => text.replace(/\p{L}/gu, (letter) => accented[letter] ?? letter);

/** Returns all texts in that language, by their English ones or keys. */
export const inPseudo = (texts: { [key: string]: string }, of: 'keys' | 'values'): { [key: string]: string } =>
  Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, pseudo(of === 'keys' ? key : value)]));
