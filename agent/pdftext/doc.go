// Package pdftext extracts the text of PDF files.
//
// PDF files are hostile and complex, and the library that reads them cannot be interrupted. So it runs in a process
// of its own, [Main], which has limits for time and memory and can be put into a sandbox. [Read] starts it.
package pdftext
