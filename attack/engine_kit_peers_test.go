//go:build peers

package attack

import "github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"

func init() {
	engines["pi"] = func(v *victim) string { return v.wrapper(enginetest.RealPi(v.t, v.home)) }
}
