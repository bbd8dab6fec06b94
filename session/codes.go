package session

import "slices"

// otherCode is the code of every text without a code of its own.
const otherCode = 255

// codes numbers common texts, the most frequent first, so that the index stores one byte
// for each. Code 0 is the empty text.
type codes[T ~string] []T

func newCodes[T ~string](texts ...T) codes[T] { return slices.Concat(codes[T]{""}, texts) }

func (c codes[T]) code(text T) uint8 {
	if n := slices.Index(c, text); n >= 0 {
		return uint8(n)
	}
	return otherCode
}

// rawCode returns the code of a JSON string without escapes. Any other value has none.
func (c codes[T]) rawCode(raw []byte) uint8 {
	text := unquoted(raw)
	for n, t := range c[1:] {
		if string(text) == string(t) {
			return uint8(n + 1)
		}
	}
	return otherCode
}

var typeCodes = newCodes(
	TypeMessage, TypeModelChange, TypeThinkingLevel, typeServiceTier, typeContextChange, typeMCPToolSelection,
	TypeCompaction, TypeBranchSummary, TypeCustom, TypeCustomMessage, TypeLabel, typeTTSRInjection, TypeSessionInit,
	TypeModeChange, TypeSessionInfo, typeContextEdit, typeUsage, typeModelUsage, typeResetBoundary, TypeTitleChange,
	typeCredentialPin, TypeSession,
)

var messageCode, labelCode = typeCodes.code(TypeMessage), typeCodes.code(TypeLabel)

var roleCodes = newCodes("toolResult", "assistant", "user", "system", "developer", "bashExecution", "pythonExecution",
	"custom", "fileMention")

// InternType returns s as a Type. Equal values of a common type share one text.
func InternType(s string) Type {
	if n := typeCodes.code(Type(s)); n != otherCode {
		return typeCodes[n]
	}
	return Type(s)
}
