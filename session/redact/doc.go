// Package redact finds secrets in text, so that a session can be shared: keys of a known format
// by rules, including those of gitleaks, and passwords by their context.
//
// [Scanner.Scan] returns the findings in a text and [Replace] the text without them. A text is
// searched in several forms, because tools print secrets in many: unchanged, with the escapes of
// nested strings resolved, with split strings joined again, with the escapes of URLs resolved,
// and with its base64 decoded. A finding always refers to the unchanged text.
//
// One pass looks for the keywords of all rules, and a rule's pattern is tried only around one of
// its keywords. The time is proportional to the length of a text, regardless of its content.
//
// The rules of gitleaks are in gitleaks_gen.go, which session/redact/gen writes.
package redact
