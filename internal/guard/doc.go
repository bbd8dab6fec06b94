// Package guard is the layer that every client of a model's service uses. It keeps the promises of
// package provider that do not depend on the wire format: one request and no redirect, no silence
// beyond the idle timeout, an event stream or an error that describes the response received
// instead, and errors sorted by the possible reaction to them, without keys in them.
//
// A client makes a [Call] of a request and reads the events with a [Decoder]; [Stream] does the
// rest.
package guard
