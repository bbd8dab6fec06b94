// Package web reads web pages for a model.
//
// An address comes from a model, and an answer from anyone. So each site needs a permission before its name is looked up, because
// a name can carry data away; an address in a private network needs one of its own, after every lookup and
// redirect, and only addresses that were checked are dialed. Time, size, headers and redirects have limits.
package web
