package tool

import "encoding/json"

// EditDetails returns the details of a result that changed a file from one text to another, as the tool edit has them.
func EditDetails(path, before, after string) json.RawMessage {
	return details(newEditDetails(path, before, after))
}
