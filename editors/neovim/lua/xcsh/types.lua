---@meta
-- The shapes that cross module borders, for the Lua language server. Nothing here
-- runs. The wire's side of them is docs/protocol.md.

---@class (exact) xcsh.Config
---@field cmd? string|string[] the server; default: g:xcsh_ls_cmd, then xcsh-ls on PATH
---@field init_options? table<string, any> initializationOptions of the server
---@field root? fun(): string the working directory a command is about; default: getcwd()
---@field register? string where :XcshDump! copies to; default: + with a clipboard, else "

---@class (exact) xcsh.Command one row of commands_gen.lua
---@field name string
---@field title string
---@field doc string
---@field input xcsh.Input
---@field palette boolean
---@field readonly boolean
---@field arg string name of the argument that a word after the command fills

---@alias xcsh.Input ''|'session'|'path'|'text'|'entry'|'model'

---@class xcsh.Error
---@field message string one sentence for a person
---@field code? integer
---@field data? { kind?: string, input?: xcsh.Input, field?: string, choices?: any[] }

---@class xcsh.State
---@field cwd string
---@field sessionId string
---@field file? string
---@field title? string
---@field messageCount integer

---@class xcsh.SessionInfo
---@field path string
---@field id string
---@field cwd string
---@field name string
---@field messageCount? integer
---@field timeAgo? string
---@field modified string

---@class xcsh.TreeNode
---@field id string
---@field parentId? string
---@field type string
---@field role? string
---@field label? string
---@field preview string

---@class xcsh.Model one of xcsh.models
---@field provider string
---@field id string
---@field name string
---@field available boolean

---@class xcsh.Event the parameters of xcsh/event
---@field cwd string
---@field sessionId string
---@field seq integer
---@field event { type: string, toolName?: string, approvals?: table[] }

---@class xcsh.SessionChanged
---@field cwd string
---@field sessionId string
---@field seq integer
---@field reason string
---@field previousSessionFile? string
