// Vulns searches the functions that the program calls for known vulnerabilities, with govulncheck.
//
//	go run ./scripts/vulns           fail for vulnerabilities of modules
//	go run ./scripts/vulns -strict   fail also for those of the standard library, and without a database
//
// The database is that of vuln.go.dev. Where it can't be reached, the one in the module golang.org/x/vulndb, of the version in
// scripts/versions.env, takes its place. A machine may have an older Go, which this repository can't change; releases are built
// with -strict.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const online = "https://vuln.go.dev"

func main() {
	strict := flag.Bool("strict", false, "fail also for vulnerabilities of the standard library, and without a database")
	flag.Parse()
	if err := run(context.Background(), *strict, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vulns:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, strict bool, out io.Writer) error {
	text, err := os.ReadFile(filepath.Join("scripts", "versions.env"))
	if err != nil {
		return err
	}
	database, err := source(ctx, online, value(text, "VULNDB_VERSION"))
	if err != nil {
		if strict {
			return err
		}
		fmt.Fprintln(out, "Not checked for vulnerabilities:", strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	fmt.Fprintln(out, "Database:", database)
	scan := exec.CommandContext(ctx, "go", "run", "golang.org/x/vuln/cmd/govulncheck@"+value(text, "GOVULNCHECK_VERSION"),
		"-format", "json", "-db", database, "./...")
	scan.Stderr = os.Stderr
	found, err := scan.Output()
	if err != nil {
		return fmt.Errorf("govulncheck: %w", err)
	}
	return judge(bytes.NewReader(found), strict, out)
}

// value returns the value of a variable in a file of lines NAME=VALUE.
func value(text []byte, name string) string {
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return v
		}
	}
	return ""
}

// source returns the address of a database: of the one on the network, or of the one in the module.
func source(ctx context.Context, address, version string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	unreachable := reach(ctx, address)
	if unreachable == nil {
		return address, nil
	}
	dir, err := downloaded(ctx, "golang.org/x/vulndb@"+version)
	if err != nil {
		return "", fmt.Errorf("no database: %w", errors.Join(unreachable, err))
	}
	return "file://" + filepath.ToSlash(filepath.Join(dir, "data", "osv")), nil
}

// downloaded returns the directory of a module.
func downloaded(ctx context.Context, module string) (string, error) {
	text, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", module).Output()
	var answer struct{ Dir, Error string }
	switch decoding := json.Unmarshal(text, &answer); {
	case answer.Error != "":
		return "", errors.New(answer.Error)
	case err != nil:
		return "", fmt.Errorf("go mod download %s: %w", module, err)
	case decoding != nil:
		return "", decoding
	}
	return answer.Dir, nil
}

func reach(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/index/db.json", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, response.Status)
	}
	return nil
}
