// Characters that make a text look like another one: direction marks, zero-width characters and
// control characters. They are made visible in text that the user bases a decision on.

const deceiving =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Returns the text with every such character replaced by its number. */
export function visible(text: string): string {
  return text.replace(deceiving, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
