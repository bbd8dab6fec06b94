package lsp

// ReadSettings is exported for a test with many cases.
var ReadSettings = readSettings

// ConfigurationTime is the time limit of requests about the configuration.
const ConfigurationTime = configurationTime
