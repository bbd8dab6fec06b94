-- Buffers that are loaded only to ask language servers about them, and the time at which the known
-- problems belong to the text of a buffer.
--
-- The server does not get such a buffer until the user opens it: it writes the file on disk, where
-- it would otherwise leave unsaved changes in a buffer that the user does not see.

local waiting = require('xcsh.waiting')

local M = {}

---A file that a request is about.
---@class xcsh.Look
---@field uri string
---@field bufnr integer
---@field is_new boolean it was loaded for this request
---@field own integer the client of the xcsh-ls server
---@field encoding string its unit of positions

---Larger files are not loaded.
local max_file = 4 * 1024 * 1024

---More hidden buffers are not kept.
local max_hidden = 30

---How long language servers are silent when they have reported everything, in milliseconds.
local quiet = 200

---After this time without a report, the known problems are those of the current text.
local settled = 5000

---How long a buffer of a file type is waited for about which nothing has ever reported.
local silent = 300

---@type integer[] the oldest first
local hidden = {}

---@class xcsh.Reports
---@field tick integer the text that they are about
---@field since number when it was first seen
---@field last? number the last report about it

---@type table<integer, xcsh.Reports>
local reports = {}

---@type table<string, boolean> file types about which nothing reports
local unreported = {}

---@type table<integer, fun()[]>
local listeners = {}

local function now()
  return vim.uv.hrtime() / 1e6
end

---@param ms number
function M.pause(ms)
  waiting.await(function(done)
    vim.defer_fn(done, math.max(1, math.floor(ms)))
  end)
end

---Reports whether a buffer was loaded only for a look, and is not the user's.
---@param bufnr integer
function M.is_hidden(bufnr)
  return vim.tbl_contains(hidden, bufnr)
end

---Ends the look at a buffer, which is now the user's. Reports whether there was one.
---@param bufnr integer
function M.release(bufnr)
  for i, known in ipairs(hidden) do
    if known == bufnr then
      table.remove(hidden, i)
      return true
    end
  end
  return false
end

---Calls a function with a buffer that was loaded only for a look, if it is on the screen now or has
---unsaved changes. Loading a buffer shows it for a moment in a window of its own.
---@param bufnr integer
---@param done fun(bufnr: integer)
function M.seen(bufnr, done)
  if not M.is_hidden(bufnr) then
    return
  end
  vim.schedule(function()
    local valid = vim.api.nvim_buf_is_valid(bufnr)
    local is_users = valid and (#vim.fn.win_findbuf(bufnr) > 0 or vim.bo[bufnr].modified)
    if is_users and M.release(bufnr) then
      done(bufnr)
    end
  end)
end

---@param bufnr integer
---@return xcsh.Reports
local function reports_of(bufnr, is_new)
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  local known = reports[bufnr]
  if not known or known.tick ~= tick then
    -- Nothing is known about the past of a buffer that the user opened: its problems count.
    local last = not known and not is_new and 0 or nil
    known = { tick = tick, since = now(), last = last }
    reports[bufnr] = known
  end
  return known
end

---Follows the reports about problems.
function M.follow()
  local group = vim.api.nvim_create_augroup('xcsh_looking', {})
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = group,
    callback = function(event)
      if not vim.api.nvim_buf_is_loaded(event.buf) then
        return
      end
      unreported[vim.bo[event.buf].filetype] = nil
      if reports[event.buf] or listeners[event.buf] then
        reports_of(event.buf).last = now()
      end
      local heard = listeners[event.buf] or {}
      listeners[event.buf] = nil
      for _, listener in ipairs(heard) do
        listener()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufUnload', 'BufWipeout' }, {
    group = group,
    callback = function(event)
      reports[event.buf] = nil
      M.release(event.buf)
    end,
  })
end

---Waits for the next report about a buffer, at most for a time.
---@param bufnr integer
---@param ms number
local function next_report(bufnr, ms)
  waiting.await(function(done)
    listeners[bufnr] = listeners[bufnr] or {}
    table.insert(listeners[bufnr], done)
    vim.defer_fn(done, math.max(1, math.floor(ms)))
  end)
end

---Removes the oldest hidden buffers.
local function tidy()
  while #hidden > max_hidden do
    local bufnr = table.remove(hidden, 1)
    if vim.api.nvim_buf_is_valid(bufnr) and not vim.bo[bufnr].modified then
      pcall(vim.api.nvim_buf_delete, bufnr, {})
    end
  end
end

---Loads the buffer of a file without showing it. Returns nil if that is not possible.
---@param uri string
---@param own integer
---@param encoding string
---@return xcsh.Look?
function M.load(uri, own, encoding)
  if not vim.startswith(uri, 'file:') then
    return nil
  end
  local path = vim.uri_to_fname(uri)
  local bufnr = vim.uri_to_bufnr(uri)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    if M.is_hidden(bufnr) and not vim.bo[bufnr].modified then
      vim.bo[bufnr].autoread = true
      vim.cmd('silent! checktime ' .. bufnr) -- the server may have written it
    end
    return { uri = uri, bufnr = bufnr, is_new = false, own = own, encoding = encoding }
  end
  local size = vim.fn.getfsize(path)
  if vim.fn.filereadable(path) == 0 or size < 0 or size > max_file then
    return nil
  end
  table.insert(hidden, bufnr)
  tidy()
  if not pcall(vim.fn.bufload, bufnr) or not vim.api.nvim_buf_is_loaded(bufnr) then
    M.release(bufnr)
    return nil
  end
  if vim.bo[bufnr].filetype == '' then
    local filetype = vim.filetype.match({ buf = bufnr, filename = path })
    if filetype then
      vim.bo[bufnr].filetype = filetype
    end
  end
  return { uri = uri, bufnr = bufnr, is_new = true, own = own, encoding = encoding }
end

---Waits until the known problems are those of the current text. Reports whether they may be stale.
---@param look xcsh.Look
---@param deadline number in milliseconds
---@return boolean
function M.settle(look, deadline)
  local bufnr = look.bufnr
  local function state()
    return reports_of(bufnr, look.is_new)
  end
  local function stale()
    local known = state()
    return not known.last and now() - known.since < settled
  end
  local filetype = vim.bo[bufnr].filetype
  local limit = unreported[filetype] and math.min(deadline, now() + silent) or deadline
  while vim.api.nvim_buf_is_loaded(bufnr) and stale() and now() < limit do
    next_report(bufnr, limit - now())
  end
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return true
  end
  if stale() then
    if now() >= deadline and deadline - state().since > silent then
      unreported[filetype] = true
    end
    return true
  end
  -- Some servers report more than once.
  while now() < deadline and (state().last or 0) + quiet > now() do
    next_report(bufnr, math.min(deadline, state().last + quiet) - now())
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      return true
    end
  end
  return false
end

return M
