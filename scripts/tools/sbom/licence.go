package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

// licenceFile matches the names of the files that state the licence of a module.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)(-(bsd|mit|apache))?(\.(md|txt))?$`)

// known are the licences of modules whose files don't have just one text, and what was found in them when they were read.
var known = map[string]struct{ found, expression string }{
	"github.com/aymanbagabas/go-udiff":       {"BSD-3-Clause MIT", "BSD-3-Clause AND MIT"},
	"github.com/modelcontextprotocol/go-sdk": {"Apache-2.0 CC-BY-4.0 MIT", "Apache-2.0 AND MIT"}, // the third is for its documentation
	"go.yaml.in/yaml/v3":                     {"Apache-2.0 MIT", "Apache-2.0 AND MIT"},
	// The text of one of the two licences to choose from differs from the usual one.
	"kernel.org/pub/linux/libs/security/libcap/psx": {"GPL-2.0", "BSD-3-Clause OR GPL-2.0-only"},
}

// setLicence sets the licence of a component from the licence files in a directory.
func setLicence(c *cdx.Component, dir string) error {
	ids, err := recognize(dir)
	if err != nil {
		return fmt.Errorf("%s %s: %w", c.Name, c.Version, err)
	}
	choice := cdx.LicenseChoice{}
	read, isKnown := known[c.Name]
	switch {
	case isKnown && read.found == strings.Join(ids, " "):
		choice.Expression = read.expression
	case !isKnown && len(ids) == 1:
		choice.License = &cdx.License{ID: ids[0]}
	default:
		return fmt.Errorf("%s %s: its licence files have the licences %q; read them, and correct the list in scripts/tools/sbom/licence.go", c.Name, c.Version, ids)
	}
	c.Licenses = &cdx.Licenses{choice}
	return nil
}

// recognize returns the SPDX identifiers of the licences in the licence files of a directory.
func recognize(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if !licenceFile.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		for _, m := range licensecheck.Scan(text).Match {
			if !slices.Contains(ids, m.ID) && !strings.HasPrefix(m.ID, "Google-Patent") {
				ids = append(ids, m.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids, nil
}
