package lsp

// What the tests reach inside the package for: pure functions with many cases.
var (
	OffsetAt       = offsetAt
	PositionAt     = positionAt
	ChooseEncoding = chooseEncoding
	FilePath       = filePath
	ReadSettings   = readSettings
	EncodeJSON     = encodeJSON
	ReadFrame      = readFrame
)

// ConfigurationTime is how long the client's configuration is waited for.
const ConfigurationTime = configurationTime

// Codec is the codec of the connection.
type Codec = codec

// Position is a place in a text.
type Position = position

// The units of positions.
const (
	UTF8Units  = utf8Units
	UTF16Units = utf16Units
	UTF32Units = utf32Units
)

// Judge returns what becomes of a message body: what is handed on, what is
// answered.
func Judge(body []byte) (pass, reply []byte, call bool) {
	v := judge(body)
	return v.pass, v.reply, v.call
}
