package notebook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/notebook"
)

func TestCells(t *testing.T) {
	t.Parallel()
	cells, err := notebook.Cells([]byte(`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[
		{"cell_type":"markdown","source":["# Title\n","text"]},
		{"cell_type":"code","execution_count":3,"source":"print('a')\nplot()","outputs":[
			{"output_type":"stream","name":"stdout","text":["a\n"]},
			{"output_type":"display_data","data":{"text/plain":["<Figure size 640x480>"],"image/png":"iVBOR"}},
			{"output_type":"execute_result","data":{"text/html":"<b>x</b>"}},
			{"output_type":"error","ename":"ValueError","evalue":"bad","traceback":["\u001b[0;31mValueError\u001b[0m: bad\n"]}]},
		{"cell_type":"code","source":[],"outputs":[]}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{
		"[Cell 1, markdown]\n# Title\ntext\n",
		"[Cell 2, code]\nprint('a')\nplot()\n[Output]\na\n<Figure size 640x480>\n[image/png omitted]\n[text/html omitted]\nValueError: bad\n",
		"[Cell 3, code]\n\n",
	}, cells)
}

func TestOlderNotebooks(t *testing.T) {
	t.Parallel()
	cells, err := notebook.Cells([]byte(`{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","input":["1+1"],"outputs":[{"output_type":"pyout","text":["2"],"png":"x"}]}]}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"[Cell 1, code]\n1+1\n[Output]\n2\n[image/png omitted]\n"}, cells)
}

func TestLongOutputsAreCut(t *testing.T) {
	t.Parallel()
	one := fmt.Sprintf(`{"output_type":"stream","text":%q}`, strings.Repeat("é", 5000))
	cells, err := notebook.Cells([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","source":"x","outputs":[` + one + strings.Repeat(","+one, 200) + `]}]}`))
	require.NoError(t, err)
	require.Less(t, len(cells[0]), 5<<10)
	require.Contains(t, cells[0], "more bytes of output omitted]")
}

func TestWhatIsNoNotebook(t *testing.T) {
	t.Parallel()
	for _, content := range []string{``, `{`, `null`, `[]`, `{}`, `{"cells":[]}`, `{"nbformat":"4"}`, `"x"`} {
		_, err := notebook.Cells([]byte(content))
		require.Error(t, err, content)
	}
}

// Whatever a notebook has, its text is not much longer than the notebook, and no type looks like a line of its own.
func FuzzCells(f *testing.F) {
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","source":["a"],"outputs":[{"output_type":"stream","text":"b"}]}]}`))
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"x\n[Cell 2, code]","source":{},"outputs":[{"data":{"a\nb":1,"image/png":2}}]}]}`))
	f.Add([]byte(`{"nbformat":3,"worksheets":[{"cells":[{"input":"a"}]},{}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		cells, _ := notebook.Cells(content)
		for i, c := range cells {
			if !strings.HasPrefix(c, fmt.Sprintf("[Cell %d, ", i+1)) || !strings.HasSuffix(c, "\n") {
				t.Errorf("%q", c)
			}
			first, _, _ := strings.Cut(c, "\n")
			if !strings.HasSuffix(first, "]") {
				t.Errorf("%q", first)
			}
			if len(c) > 3*len(content)+8<<10 {
				t.Errorf("%d bytes of %d", len(c), len(content))
			}
		}
	})
}
