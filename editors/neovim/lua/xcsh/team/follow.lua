-- Sessions of the team store as read-only buffers, whose text the server supplies and renews. Other
-- users wrote the text: nothing in it is run.

local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---@class xcsh.Followed
---@field bufnr integer
---@field asked boolean whether the text is requested
---@field changed boolean whether it has changed since

---The followed sessions by the addresses of their documents.
---@type table<string, xcsh.Followed>
local followed = {}

---Returns the ID of the session in an address, nil for another address.
---@param uri any
---@return string?
local function sid_of(uri)
  local sid = wire.str(uri):match('^xcsh%-team:/+([%w_-]+)%.md$')
  return sid and #sid <= 64 and sid or nil
end

---Replaces the text. Windows that show its end show the new end, too.
---@param bufnr integer
---@param lines string[]
local function fill(bufnr, lines)
  local last = vim.api.nvim_buf_line_count(bufnr)
  local ends = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] == last
  end, vim.fn.win_findbuf(bufnr))
  require('xcsh.view').fill(bufnr, lines)
  vim.bo[bufnr].modified = false
  for _, window in ipairs(ends) do
    vim.api.nvim_win_set_cursor(window, { #lines, 0 })
  end
end

---Requests the text, one request at a time.
---@param uri string
function M.refresh(uri)
  local doc = followed[uri]
  local client = require('xcsh.client').get()
  if not doc or not client then
    return
  elseif doc.asked then
    doc.changed = true
    return
  end
  doc.asked, doc.changed = true, false
  local params = { uri = uri }
  require('xcsh.client').request('workspace/textDocumentContent', params, function(err, result)
    doc.asked = false
    if not vim.api.nvim_buf_is_valid(doc.bufnr) then
      return
    end
    if err then
      return require('xcsh.view').error(err)
    end
    fill(doc.bufnr, text.whole(wire.str(wire.tbl(result).text)))
    if doc.changed then
      M.refresh(uri)
    end
  end)
end

---Ends following when the user removes the buffer.
---@param uri string
---@param sid string
local function forget(uri, sid)
  followed[uri] = nil
  local client = require('xcsh.client')
  if client.get() then
    client.execute('xcsh.team.follow', { source = sid, stop = true }, function() end)
  end
end

---Reports whether an address is that of a session's document.
---@param uri any
---@return boolean
function M.is_followed(uri)
  return sid_of(uri) ~= nil
end

---Shows the document of a session.
---@param uri string
function M.open(uri)
  local sid = assert(sid_of(uri))
  local doc = followed[uri]
  if not doc then
    doc = { bufnr = vim.api.nvim_create_buf(true, true), asked = false, changed = false }
    followed[uri] = doc
    local bo = vim.bo[doc.bufnr]
    bo.modeline, bo.modifiable, bo.swapfile, bo.bufhidden = false, false, false, 'hide'
    vim.api.nvim_buf_set_name(doc.bufnr, uri)
    bo.filetype = 'markdown'
    vim.api.nvim_create_autocmd('BufWipeout', {
      buffer = doc.bufnr,
      once = true,
      callback = function()
        forget(uri, sid)
      end,
    })
  end
  local window = vim.fn.win_findbuf(doc.bufnr)[1]
  if window then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd.sbuffer(doc.bufnr)
  end
  M.refresh(uri)
end

---Answers workspace/textDocumentContent/refresh.
---@param params any
function M.on_refresh(_, params)
  local uri = wire.str(wire.tbl(params).uri)
  vim.schedule(function()
    M.refresh(uri)
  end)
  return vim.NIL
end

return M
