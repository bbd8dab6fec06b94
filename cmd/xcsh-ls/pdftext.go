package main

import (
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/pdftext"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// pdfTextCommand extracts the text of a PDF file, in a process that cannot harm the server.
func pdfTextCommand() *cobra.Command {
	return &cobra.Command{
		Use: "pdf-text FIRST COUNT", Hidden: true, DisableFlagsInUseLine: true,
		Short: "Print the text of some pages of a PDF file",
		Args:  takes(2, 2, "FIRST and COUNT"),
		RunE: func(_ *cobra.Command, args []string) error {
			first, err := strconv.Atoi(args[0])
			count, countErr := strconv.Atoi(args[1])
			if err != nil || countErr != nil || first < 1 {
				return fault.New(fault.InvalidArgument, "FIRST and COUNT must be numbers.")
			}
			return pdftext.Main(os.Stdin, os.Stdout, first, count)
		},
	}
}

// pdfText returns the reader of PDF files for attachments.
func (p place) pdfText(s lsp.Settings, log *zap.Logger) commands.PDFReader {
	return tool.Options{PDF: newPDFReader(), Sandbox: p.newBox(s.Sandbox, private(p.finder.Roots).Commands, log)}.PDFText
}

// newPDFReader returns the command line that reads PDF files.
func newPDFReader() []string {
	program, err := self()
	if err != nil {
		return nil
	}
	return []string{program, "pdf-text"}
}
