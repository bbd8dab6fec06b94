// Package visible makes untrusted text safe to display: in a terminal, a hover, a title, a
// message box, a Markdown view or a log. Characters that move the cursor, start a terminal
// command, reorder text or take no space are replaced by visible escapes:
// \u001b, \u202e, \U000e0041, and \x9b for a byte that is not UTF-8.
//
// These are escaped:
//
//   - C0 controls, DEL and C1 controls, and with them the introducer of every terminal
//     sequence (CSI, OSC, DCS, APC, PM, SOS), whose rest is then plain text. [Text] keeps line
//     feeds, tabs and CRLF; a carriage return elsewhere could overwrite its line.
//   - Bidi controls, the line separators U+2028 and U+2029, and zero-width or otherwise
//     invisible characters: every default ignorable code point of Unicode, which includes the
//     soft hyphen, tag characters and variation selectors.
//
// Of the invisible ones these stay, because ordinary text needs them:
//
//   - U+200D between two emoji, and U+FE0E or U+FE0F directly after one.
//   - U+FE0F of a keycap, as in 1️⃣, and the tags of the flags of England, Scotland and Wales.
//   - One U+200C or U+200D after a letter or mark of a script that joins letters, such as
//     Arabic and those of India.
//
// The rules need at most the preceding character and a few following bytes, so that [Writer],
// which receives a text in pieces, returns the same result as [Text]. Escaping a result again
// does not change it.
package visible
