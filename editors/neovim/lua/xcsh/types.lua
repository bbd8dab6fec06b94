---@meta
-- The types that modules share, for the Lua language server. This file is never executed. Protocol
-- types are in wire_gen.lua.

---@class (exact) xcsh.Config
---@field cmd? string|string[] the server; default: g:xcsh_ls_cmd, then xcsh-ls on PATH
---@field init_options? table<string, any> initializationOptions of the server
---@field root? fun(): string the working directory a command is about; default: getcwd()
---@field register? string where :XcshDump! copies to; default: + with a clipboard, else "
---@field review? 'inline'|'tab' where proposed changes are shown; default inline
---@field picker? 'auto'|'select'|'telescope'|'fzf-lua'|'snacks' default: auto
---@field changes? xcsh.ChangesConfig
---@field chat? xcsh.ChatConfig

---@class (exact) xcsh.ChangesConfig
---@field show? 'lines'|'signs'|'none' how pending changes are shown in files; default: lines
---@field keys? table<string, string|false>|false the keys in such files by name

---@class (exact) xcsh.ChatConfig
---@field position? 'right'|'left'|'bottom'|'current' default: right
---@field width? number columns, or below 1 the share of the screen; default: 0.45
---@field height? number lines at the bottom, or below 1 the share; default: 0.5
---@field prompt_height? integer default: 5

---@class (exact) xcsh.Command one row of commands_gen.lua
---@field name string
---@field title string
---@field doc string
---@field input xcsh.Input
---@field palette boolean
---@field readonly boolean
---@field arg string name of the argument that text after the command sets

---@alias xcsh.Input xcsh.wire.InputKind

---@class xcsh.Error
---@field message string one sentence for the user
---@field code? integer
---@field data? xcsh.ErrorData

---@class xcsh.ErrorData
---@field kind? xcsh.wire.ErrorKind
---@field input? xcsh.Input
---@field field? string
---@field choices? any[]
---@field actions? any[]

---@alias xcsh.State xcsh.wire.SessionState
---@alias xcsh.SessionInfo xcsh.wire.SessionInfo
---@alias xcsh.TreeNode xcsh.wire.TreeNode
---@alias xcsh.Model xcsh.wire.ModelItem
---@alias xcsh.Event xcsh.wire.EventParams
---@alias xcsh.SessionChanged xcsh.wire.SessionChangedParams
