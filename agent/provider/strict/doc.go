// Package strict makes services enforce the schemas of tools.
//
// Some services can restrict what a model samples, so that the arguments of a call always match the
// schema. They want the schema in a narrower form, see [Schema], and refuse a request with too many or
// too large ones. [Memory] sends such a request again without enforcement.
package strict
