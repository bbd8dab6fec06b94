package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// carrier brings a secret into a session: a text, and the pieces of the secret that must be
// hidden from the recipient.
type carrier struct {
	name string
	pack func(before, secret, after string) (text string, pieces []string)
}

var carriers = []carrier{
	{"plain", func(b, s, a string) (string, []string) {
		return "Use this:\n" + b + s + a + "\nand go on.", []string{s}
	}},
	{"JSON", func(b, s, a string) (string, []string) {
		return `{"ok":true,"items":[{"line":` + quoted(b+s+a) + `,"n":1}]}`, []string{s, inside(s)}
	}},
	{"JSON twice", func(b, s, a string) (string, []string) {
		return quoted(`{"stdout":` + quoted("x\n"+b+s+a+"\n") + `}`), []string{s, inside(s)}
	}},
	{"env dump", func(b, s, a string) (string, []string) {
		if b == "" {
			b = "SERVICE_VALUE="
		}
		return "HOME=/home/dev\nPATH=/usr/bin:/bin\n" + b + s + a + "\nSHLVL=1\n", []string{s}
	}},
	{"URL", func(b, s, a string) (string, []string) {
		if b == "" {
			return "https://example.com/cb?state=1&v=" + url.QueryEscape(s) + "&x=2", []string{s, url.QueryEscape(s)}
		}
		return "https://example.com/log?m=" + url.QueryEscape(b+s+a), []string{s, url.QueryEscape(s)}
	}},
	{"base64", func(b, s, a string) (string, []string) {
		encoded := base64.StdEncoding.EncodeToString([]byte("line one\n" + b + s + a + "\n"))
		return "data: " + encoded + "\n", []string{encoded[len(encoded)/3 : len(encoded)/2], s}
	}},
	{"wrapped base64", func(b, s, a string) (string, []string) {
		encoded := base64.StdEncoding.EncodeToString([]byte("first line of a file\n" + b + s + a + "\nlast line of a file\n"))
		lines := ""
		for len(encoded) > 64 {
			lines, encoded = lines+encoded[:64]+"\n", encoded[64:]
		}
		return "$ base64 file\n" + lines + encoded + "\n", []string{s, lines[:min(len(lines), 40)]}
	}},
	{"continued", func(b, s, a string) (string, []string) {
		first, second := halves(s)
		return b + first + "\\\n" + second + a, []string{first, second}
	}},
	{"wrapped line", func(b, s, a string) (string, []string) {
		first, second := halves(s)
		return "Output:\n" + b + first + "\n" + second + a + "\nand go on.", []string{first, second}
	}},
	{"sum", func(b, s, a string) (string, []string) {
		first, second := halves(s)
		q := `"`
		if strings.Contains(b+a, q) {
			q = "`"
		}
		return "x := " + q + b + first + q + " +\n\t" + q + second + a + q, []string{first, second}
	}},
	{"diff", func(b, s, a string) (string, []string) {
		return "@@ -1,2 +1,2 @@\n-old line\n+" + b + s + a + "\n same\n", []string{s}
	}},
	{"Markdown", func(b, s, a string) (string, []string) {
		if b == "" {
			return "| name | value |\n|---|---|\n| key | **" + s + "** |\n", []string{s}
		}
		return "Run:\n\n```sh\n" + b + s + a + "\n```\nor `" + b + s + a + "`.\n", []string{s}
	}},
}

func halves(s string) (string, string) { return s[:len(s)/2], s[len(s)/2:] }

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// inside is s as it is written in a JSON string.
func inside(s string) string { return strings.Trim(quoted(s), `"`) }
