// Package ttsr has the stream rules of xcsh and oh-my-pi, which call them time-traveling stream rules:
// Markdown files whose front matter has a condition, a regular expression over an answer that is
// being received. An answer that matches is stopped, and the request is repeated with the text of the
// rule.
//
// [Source] finds the rules, [Watch] applies them to one answer, and [Interruption] and [Reminder] are
// the texts for the model. What is recorded, and when a request is repeated, is for the caller to
// decide.
//
// Rules may come with a workspace, and answers may have any text. All conditions are RE2 and need
// linear time; their number and length, the text they are applied to and the work for one answer are
// bounded.
package ttsr
