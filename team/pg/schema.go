package pg

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed schema.sql
var schema string

// grantsMark begins the last part of the schema, which an upgrade runs again.
const grantsMark = "- grants\n"

// Schema returns schema.sql, for psql. Its variable "partitions" is 8 unless psql is called with -v.
func Schema() string { return schema }

// script returns the schema without the commands and variables of psql.
func script(partitions int) string {
	var b strings.Builder
	for line := range strings.Lines(schema) {
		if !strings.HasPrefix(line, `\`) {
			b.WriteString(line)
		}
	}
	return strings.ReplaceAll(b.String(), ":'partitions'", "'"+strconv.Itoa(partitions)+"'")
}

// grants returns the part of the schema that lets members call the versioned functions, and only these.
func grants() string {
	_, part, _ := strings.Cut(schema, grantsMark)
	part, _, _ = strings.Cut(part, "\ncommit;")
	return part
}
