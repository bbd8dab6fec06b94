package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	config = `{"config": {"protocol_version": "v1.0.0"}}`
	osv    = `{"osv": {"id": "GO-1", "summary": "Crash in x"}}`
)

// finding is a message about GO-1 in a function of a module. Without a function, the module is only required.
func finding(module, function string) string {
	return `{"finding": {"osv": "GO-1", "fixed_version": "v1.2.0", "trace": [
		{"module": "` + module + `", "version": "v1.1.0", "package": "x", "function": "` + function + `"},
		{"module": "ours", "package": "ours", "function": "main"}]}}`
}

func TestOnlyCalledVulnerabilitiesFail(t *testing.T) {
	t.Parallel()
	const line = "GO-1: Crash in x (x.F of example.org/x v1.1.0, called by ours.main, fixed in v1.2.0)\n"
	const std = "GO-1: Crash in x (x.F of stdlib v1.1.0, called by ours.main, fixed in v1.2.0)\n"
	for name, test := range map[string]struct {
		in     string
		strict bool
		out    string
		err    string
	}{
		"none":                            {in: config},
		"a module that is not called":     {in: config + osv + finding("example.org/x", "")},
		"a called module":                 {in: config + osv + finding("example.org/x", "F"), out: line, err: "1 known vulnerabilities"},
		"two traces of one":               {in: config + osv + finding("example.org/x", "F") + finding("example.org/x", "F"), out: line, err: "1 known vulnerabilities"},
		"a trace after a module":          {in: config + osv + finding("example.org/x", "") + finding("example.org/x", "F"), out: line, err: "1 known"},
		"the standard library":            {in: config + osv + finding("stdlib", "F"), out: std + "The Go of this machine has 1 of these vulnerabilities; a newer Go removes them.\n"},
		"the standard library, in strict": {in: config + osv + finding("stdlib", "F"), strict: true, out: std, err: "1 known"},
		"no output":                       {err: "govulncheck printed no result"},
		"output that ends too soon":       {in: config + `{"finding": {`, err: "the output of govulncheck"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := judge(strings.NewReader(test.in), test.strict, &out)
			require.Equal(t, test.out, out.String())
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.err)
			}
		})
	}
}

func TestTheDatabaseOnTheNetworkComesFirst(t *testing.T) {
	t.Parallel()
	database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/index/db.json" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer database.Close()
	address, err := source(t.Context(), database.URL, "none")
	require.NoError(t, err)
	require.Equal(t, database.URL, address)
}

func TestWithoutADatabaseTheReasonIsReturned(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	database := httptest.NewServer(http.NotFoundHandler())
	defer database.Close()
	_, err := source(t.Context(), database.URL, "v0.0.0-20000101000000-000000000000")
	require.ErrorContains(t, err, "no database: "+database.URL+": 404 Not Found\n")
	require.ErrorContains(t, err, "GOPROXY=off")
}

func TestTheVersionsAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../versions.env")
	require.NoError(t, err)
	require.Regexp(t, `^v\d`, value(text, "VULNDB_VERSION"))
	require.Regexp(t, `^v\d`, value(text, "GOVULNCHECK_VERSION"))
	require.Empty(t, value(text, "OTHER_VERSION"))
}
