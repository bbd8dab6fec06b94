// The page's own texts in the language of the window. The code contains them in English;
// scripts/l10n.mjs extracts them, so each must be a single string literal in a call of t.

let texts: Readonly<Record<string, string>> = {};

/** Sets the translations, keyed by the English texts. Text that is already rendered does not change. */
export function setTexts(bundle: Readonly<Record<string, string>>): void {
  texts = bundle;
}

/** Returns a text in the language of the window, or in English if there is no translation; {0} is the first value. */
export function t(text: string, ...values: (string | number)[]): string {
  const translated = Object.hasOwn(texts, text) ? texts[text]! : text;
  return translated.replace(/\{(\d+)\}/g, (whole, n: string) => String(values[Number(n)] ?? whole));
}
