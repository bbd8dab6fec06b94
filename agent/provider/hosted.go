package provider

import "net"

// Hosted is a provider of models that run at an address of the customer's own, which the user's
// environment names.
type Hosted interface {
	Provider

	// Address returns the base URL for the model. m has the one of the catalogue or of the user's
	// models.json. The error is a sentence about the missing setting.
	Address(m Model) (string, error)

	// Ambient reports whether the user's environment has credentials other than an API key for
	// requests to the model. The answer may be wrong until a request is made.
	Ambient(m Model) bool
}

// OnThisMachine reports whether a host, in lower case, is this machine: keys and credentials that are
// sent there do not leave it.
func OnThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
