//go:build linux && !amd64 && !arm64

package sandbox

import "golang.org/x/net/bpf"

// auditArch is 0 for processors without a tested filter; there is no sandbox then.
const auditArch = 0

const foreignCalls = 0xffffffff

// oldMetadataCalls are those of older processors.
var oldMetadataCalls []uint32

func truncatingOpen() []bpf.Instruction { return nil }
