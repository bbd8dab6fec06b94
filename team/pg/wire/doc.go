// Package wire calls functions of a PostgreSQL server through pgconn, the part of pgx that speaks the
// protocol. The other part, pgx itself, would add 2 MB to the program for types that no function of the
// store has.
//
// # Values
//
// An argument is nil, a string, a boolean, a number, bytes, a UUID as [16]byte, a [time.Time], a slice of
// these, or a pointer to one of these, where nil is NULL. The server infers its type. A destination of a
// result is a pointer to a value of the same kinds, or to a pointer, which becomes nil for NULL; of slices
// only those of bytes and of integers. A server that sends anything else causes an [AnswerError].
package wire
