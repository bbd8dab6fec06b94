-- The notifications to the server. Neovim makes the edits of a document one by one, and sends the
-- first of them at once and the others later, so that the server would see a text that nobody
-- wrote. Here the edits of one request become one didChange of each document.

local M = {}

---@class xcsh.Outbox
---@field list { method: string, params: table }[]
---@field changes table<string, table> the didChange of each document

---@type xcsh.Outbox?
local held

---The function that sends a notification to the server.
---@type fun(method: string, params: table): boolean
local send

---Holds a notification back. The changes of a document become one.
---@param method string
---@param params table
local function hold(method, params)
  local uri = method == 'textDocument/didChange' and params.textDocument.uri
  local known = uri and held.changes[uri]
  if known then
    known.textDocument.version = params.textDocument.version
    return vim.list_extend(known.contentChanges, params.contentChanges)
  end
  params = vim.deepcopy(params)
  if uri then
    held.changes[uri] = params
  end
  table.insert(held.list, { method = method, params = params })
end

---Returns a connection whose notifications can be held.
---@param rpc table as vim.lsp.rpc.start() returns it
---@return table
function M.wrap(rpc)
  local notify = rpc.notify
  held, send = nil, notify
  return vim.tbl_extend('force', rpc, {
    notify = function(method, params)
      if held then
        hold(method, params)
        return true
      end
      return notify(method, params)
    end,
  })
end

---Runs a function that changes documents, and then one that makes Neovim send the changes. The
---server gets one didChange of each document.
---@param change fun()
---@param flush fun()
function M.together(change, flush)
  held = { list = {}, changes = {} }
  local ok, problem = pcall(change)
  local flushed, why = pcall(flush)
  local now = held
  held = nil
  for _, notification in ipairs(now and now.list or {}) do
    send(notification.method, notification.params)
  end
  if not ok or not flushed then
    error(problem or why, 0)
  end
end

return M
