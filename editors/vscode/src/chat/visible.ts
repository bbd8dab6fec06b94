// Characters that make a text look like another one: what turns the direction of writing, what has no
// width, and controls. Where a person decides by what is read they are shown as what they are.

const deceiving =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** The text with every such character as its number. */
export function visible(text: string): string {
  return text.replace(deceiving, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
