package conn

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// itself is a value that encodes itself.
type itself struct{ err error }

func (i itself) AppendJSON(dst []byte) ([]byte, error) {
	return append(dst, `{"by":"itself"}`...), i.err
}

func TestAValueMayEncodeItself(t *testing.T) {
	t.Parallel()
	raw, err := EncodeJSON(itself{})
	require.NoError(t, err)
	require.Equal(t, `{"by":"itself"}`, string(raw))
	_, err = EncodeJSON(itself{errors.New("it cannot")})
	require.EqualError(t, err, "it cannot")
}
