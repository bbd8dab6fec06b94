package pdftext_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/pdftext"
)

// processArg makes the test program the process that reads files.
const processArg = "pdftext-test-process"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == processArg {
		first, _ := strconv.Atoi(os.Args[2])
		count, _ := strconv.Atoi(os.Args[3])
		if err := pdftext.Main(os.Stdin, os.Stdout, first, count); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var process = pdftext.Process{Argv: []string{os.Args[0], processArg}, Env: []string{}, Time: 10 * time.Second}

// file makes a PDF file of objects, of which the first is the catalog.
func file(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(content), content)
}

const (
	font = `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/FirstChar 32/LastChar 126/Widths[` // and widths
	// wide is a composite font whose codes are two bytes.
	wide  = `<</Type/Font/Subtype/Type0/BaseFont/F/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2/DW 500/W[1[600 600]]>>]/ToUnicode 5 0 R>>`
	toUni = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def 1 begincodespacerange <0000> <FFFF> endcodespacerange 3 beginbfchar <0001> <00E4> <0002> <4E2D> <0003> <0020> endbfchar endcmap end end"
)

// pages makes a file whose pages have the contents.
func pages(fontObject string, contents ...string) []byte {
	var kids []string
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "", fontObject, stream("/Type/XObject/Subtype/Form/Matrix[1 0 0 1 0 -100]", "BT /F 10 Tf 72 700 Td (in a form) Tj ET"), stream("", toUni)}
	for _, c := range contents {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F 3 0 R>>/XObject<</X 4 0 R>>>>>>", n+1), stream("", c))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(kids, " "), len(kids))
	return file(objects...)
}

func simpleFont() string { return font + strings.Repeat("500 ", 95) + "]>>" }

func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ font, content, want string }{
		"a line":            {simpleFont(), "BT /F 12 Tf 72 700 Td (Hello world) Tj ET", "Hello world"},
		"lines":             {simpleFont(), "BT /F 12 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj (2) ' ET", "one\ntwo\n2"},
		"a paragraph":       {simpleFont(), "BT /F 12 Tf 72 700 Td (one) Tj 0 -30 Td (two) Tj ET", "one\n\ntwo"},
		"words by position": {simpleFont(), "BT /F 10 Tf 72 700 Td [(Hel) 20 (lo) -400 (wor) 10 (ld)] TJ ET", "Hello world"},
		"single characters": {simpleFont(), "BT /F 10 Tf 1 0 0 1 72 700 Tm (a) Tj 1 0 0 1 77 700 Tm (b) Tj 1 0 0 1 92 700 Tm (c) Tj ET", "ab c"},
		"a scaled page":     {simpleFont(), "q 0.1 0 0 0.1 0 0 cm BT /F 100 Tf 720 7000 Td (a) Tj 50 0 Td (b) Tj 200 0 Td (c) Tj ET Q", "ab c"},
		"a form":            {simpleFont(), "BT /F 10 Tf 72 700 Td (before) Tj ET /X Do", "before\n\nin a form"},
		"a composite font":  {wide, "BT /F 10 Tf 72 700 Td <000100020001> Tj 30 0 Td <0002> Tj ET", "ä中ä 中"},
		"nothing":           {simpleFont(), "0 0 10 10 re f", ""},
		"damage at the end": {simpleFont(), "BT /F 12 Tf 72 700 Td (Hello) Tj ET currentdict", "Hello"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := pdftext.Read(t.Context(), process, pages(c.font, c.content), 1, 10)
			require.NoError(t, err)
			require.Equal(t, pdftext.Text{Total: 1, Pages: []string{c.want}}, text)
		})
	}
}

func TestPagesAreSelected(t *testing.T) {
	t.Parallel()
	var contents []string
	for i := range 30 {
		contents = append(contents, fmt.Sprintf("BT /F 12 Tf 72 700 Td (page %d) Tj ET", i+1))
	}
	content := pages(simpleFont(), contents...)
	text, err := pdftext.Read(t.Context(), process, content, 10, 2)
	require.NoError(t, err)
	require.Equal(t, pdftext.Text{Total: 30, Pages: []string{"page 10", "page 11"}}, text)
	text, err = pdftext.Read(t.Context(), process, content, 31, 2)
	require.NoError(t, err)
	require.Equal(t, pdftext.Text{Total: 30}, text)
}

// Hostile files return an error message, or the readable text within the limits.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	const long = "BT /F 12 Tf 72 700 Td "
	for name, c := range map[string]struct {
		content []byte
		err     string
	}{
		"empty":                   {nil, "damaged"},
		"no PDF":                  {[]byte("hello"), "damaged"},
		"only a mark":             {[]byte("%PDF-1.7\n"), "damaged"},
		"no pages":                {file("<</Type/Catalog>>"), "damaged"},
		"a million pages":         {file("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 1000000>>"), ""},
		"pages in a circle":       {file("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R]/Count 5>>"), "limits"},
		"a parent in a circle":    {file("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Parent 2 0 R/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>", stream("", "BT ET")), "limits"},
		"a form in itself":        {file("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</XObject<</X 4 0 R>>>>>>", stream("/Subtype/Form", "/X Do /X Do /X Do /X Do")), ""},
		"too much text":           {pages(simpleFont(), long+strings.Repeat("("+strings.Repeat("x", 1000)+") Tj ", 5000)+"ET"), ""},
		"many states":             {pages(simpleFont(), strings.Repeat("q ", 1e6)), ""},
		"deep arrays":             {pages(simpleFont(), strings.Repeat("[", 1e6)), ""},
		"many widths":             {pages(`<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</W[0 2000000000 5]>>]/ToUnicode 5 0 R>>`, long+"<0001> Tj ET"), ""},
		"an encrypted one":        {bytes.Replace(pages(simpleFont(), "BT ET"), []byte("/Root 1 0 R"), []byte("/Root 1 0 R/Encrypt<</Filter/Standard/V 2/R 3/O(12345678901234567890123456789012)/U(12345678901234567890123456789012)/P -1/Length 128>>/ID[(a)(b)]"), 1), ""},
		"a length beyond the end": {file("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Contents 4 0 R>>", "<</Length 99999999>>\nstream\nx\nendstream"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := process
			if c.err == "limits" {
				p.Time = time.Second
			}
			text, err := pdftext.Read(t.Context(), p, c.content, 1, 2000)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
			}
			size := 0
			for _, p := range text.Pages {
				size += len(p)
			}
			require.Less(t, size, 256<<10)
		})
	}
}

// Whatever the content is, the process ends and its answer is small.
func FuzzRead(f *testing.F) {
	f.Add([]byte("%PDF-1.4"))
	f.Add(pages(simpleFont(), "BT /F 12 Tf 72 700 Td (Hello world) Tj ET"))
	f.Add(pages(wide, "BT /F 10 Tf 72 700 Td <000100020001> Tj 30 0 Td <0002> Tj ET /X Do"))
	f.Fuzz(func(t *testing.T, content []byte) {
		text, err := pdftext.Read(t.Context(), process, content, 1, 3)
		if err == nil && (text.Total < 1 || len(text.Pages) > 3) {
			t.Errorf("%d of %d pages", len(text.Pages), text.Total)
		}
	})
}
