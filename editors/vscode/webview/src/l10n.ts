// The page's own texts in the language of the window. They are written in English where they are
// shown; scripts/l10n.mjs gathers them, and so each stands as one quoted text in a call of t.

let texts: Readonly<Record<string, string>> = {};

/** Takes the translations, by their English texts. What was drawn before stays as it is. */
export function setTexts(bundle: Readonly<Record<string, string>>): void {
  texts = bundle;
}

/** A text in the language of the window, in English where it has no translation; {0} is the first value. */
export function t(text: string, ...values: (string | number)[]): string {
  const translated = Object.hasOwn(texts, text) ? texts[text]! : text;
  return translated.replace(/\{(\d+)\}/g, (whole, n: string) => String(values[Number(n)] ?? whole));
}
