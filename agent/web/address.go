package web

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxURL bounds an address, in bytes.
const maxURL = 8 << 10

// Site is what a permission is for: a scheme, a host and a port.
type Site struct {
	Origin  string // "https://example.com", with the port unless it is the usual one
	Private bool   // it is in a private network, or on this machine
	At      string // the private address; "" if it is the host itself
	URL     string // the address that is read
}

// parse reads an address.
func parse(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	u, err := url.Parse(raw)
	switch {
	case len(raw) > maxURL:
		return nil, invalid("The address is longer than %d bytes.", maxURL)
	case err == nil && u.Scheme != "http" && u.Scheme != "https":
		return nil, invalid("%q is not the address of a web page: it begins with neither https:// nor http://.", short(raw))
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return nil, invalid("%q is not a web address.", short(raw))
	case u.User != nil:
		return nil, invalid("The address contains a user name or a password, which are not sent.")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", "path")
}

func short(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// origin returns the site of an address.
func origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != usualPort(u.Scheme) {
		host += ":" + port
	}
	return u.Scheme + "://" + host
}

func usualPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// ports of a URL.
func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return usualPort(u.Scheme)
}

// named reports whether a host, without a lookup, is this machine or a private address, and returns the address.
func named(host string) (addr netip.Addr, private bool) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.Addr{}, true
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil && !public(addr)
}

// notPublic are the ranges of IPv4 that are not part of the internet, see RFC 6890.
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
)

// Of IPv6, only global addresses are public, without those that stand for other networks or for an address of IPv4.
var (
	global    = netip.MustParsePrefix("2000::/3")
	notGlobal = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(all ...string) (list []netip.Prefix) {
	for _, p := range all {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

// public reports whether an address is on the internet.
func public(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	ranges := notPublic
	if addr.Is6() {
		if !global.Contains(addr) {
			return false
		}
		ranges = notGlobal
	}
	for _, p := range ranges {
		if p.Contains(addr) {
			return false
		}
	}
	return addr.IsValid()
}
