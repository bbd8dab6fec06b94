// Package markup converts text from models, session files and programs to safe Markdown. For any
// text, a viewer finds no HTML and no images in the result, and only links to the web, mail
// addresses and relative paths, even if it renders HTML and supports every scheme.
//
// Viewers disagree about where code begins and ends: tables, math and link titles all parse
// backticks in their own ways. This package doesn't depend on it. Outside of the code blocks
// that it delimits itself, no < remains that could begin a tag. Those blocks begin at the left
// margin, where no list can end them, in fences that don't occur in their text.
//
// Characters that a reader cannot see are escaped as by package visible.
package markup
