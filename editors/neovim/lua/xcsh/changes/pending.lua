-- What the sessions did to files and the user has not reviewed yet: totals by folder, and the hunks
-- of the files on the screen. The server says when they have changed.

local client = require('xcsh.client')
local wire = require('xcsh.wire')

local M = {}

---What the user reads about a rewind that is not completed.
M.interruption = 'A rewind was interrupted. It will be completed or undone before the next change.'

---How long changes are collected before the server is asked, in milliseconds.
M.delay = 100

---@class xcsh.changes.Folder what a session did
---@field totals xcsh.wire.ChangesTotals
---@field interrupted boolean a rewind was interrupted and is not completed yet
---@field paths table<string, boolean> the files with pending hunks

---@type table<string, xcsh.changes.Folder>
local folders = {}

---The text of a buffer that its hunks are for, and its request.
---@class xcsh.changes.Shown
---@field cwd string
---@field path string
---@field asking boolean
---@field again boolean its hunks changed since the request

---@type table<integer, xcsh.changes.Shown>
local shown = {}

---@param cwd string
---@return xcsh.changes.Folder
local function folder(cwd)
  folders[cwd] = folders[cwd] or { totals = {}, interrupted = false, paths = {} }
  return folders[cwd]
end

---Returns the totals of a folder's session; all are 0 while they are unknown.
---@param cwd string
---@return { files: integer, added: integer, removed: integer, pending: integer }
function M.totals(cwd)
  local totals = wire.tbl((folders[cwd] or {}).totals)
  return {
    files = wire.num(totals.files),
    added = wire.num(totals.added),
    removed = wire.num(totals.removed),
    pending = wire.num(totals.pending),
  }
end

---Returns totals in words: "5 files +120 −31".
---@param totals any
---@return string
function M.words(totals)
  totals = wire.tbl(totals)
  local files = wire.num(totals.files)
  return ('%d %s +%d −%d'):format(
    files,
    files == 1 and 'file' or 'files',
    wire.num(totals.added),
    wire.num(totals.removed)
  )
end

---Says once that a rewind is not completed.
---@param cwd string
---@param interrupted boolean
local function tell_interrupted(cwd, interrupted)
  local known = folder(cwd)
  if interrupted and not known.interrupted then
    require('xcsh.view').notify(M.interruption, vim.log.levels.WARN)
  end
  known.interrupted = interrupted
end

---Takes what a result of xcsh.changes or a snapshot says about a session.
---@param cwd string
---@param result any
function M.learn(cwd, result)
  result = wire.tbl(result)
  if type(result.totals) == 'table' then
    folder(cwd).totals = result.totals
    vim.cmd.redrawstatus({ bang = true })
  end
  tell_interrupted(cwd, result.interrupted == true)
end

---@param bufnr integer
---@return string? cwd of the session that changed the file, string? path
local function owner(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  if path == '' or vim.bo[bufnr].buftype ~= '' then
    return
  end
  local root = require('xcsh.config').root()
  if (folders[root] or { paths = {} }).paths[path] then
    return root, path
  end
  for cwd, known in pairs(folders) do
    if known.paths[path] then
      return cwd, path
    end
  end
end

---@param bufnr integer
local function forget(bufnr)
  shown[bufnr] = nil
  require('xcsh.changes.marks').clear(bufnr)
end

---@type fun(bufnr: integer)
local load

---Takes the hunks of a file, unless they are for another text than the one in the buffer now.
---@param bufnr integer
---@param entry xcsh.changes.Shown
---@param tick integer of the text when the server was asked
---@param result table
local function take(bufnr, entry, tick, result)
  local file = {}
  for _, found in ipairs(wire.tbl(result.files)) do
    if wire.tbl(found).path == entry.path then
      file = found
    end
  end
  if entry.again or vim.api.nvim_buf_get_changedtick(bufnr) ~= tick then
    entry.again = false
    return vim.defer_fn(function()
      if shown[bufnr] == entry then
        load(bufnr)
      end
    end, M.delay)
  end
  local hunks = vim.tbl_filter(function(hunk)
    return wire.tbl(hunk).state ~= 'kept'
  end, wire.tbl(file.hunks))
  if #hunks == 0 then
    folder(entry.cwd).paths[entry.path] = nil
    forget(bufnr)
    return require('xcsh.changes.diff').refresh(bufnr)
  end
  require('xcsh.changes.marks').show(bufnr, {
    cwd = entry.cwd,
    path = entry.path,
    base = wire.str(file.base),
    hunks = hunks,
  })
  require('xcsh.changes.diff').refresh(bufnr)
end

---Asks for the hunks of the file in a buffer.
---@param bufnr integer
function load(bufnr)
  local entry = shown[bufnr]
  if entry.asking then
    entry.again = true
    return
  end
  entry.asking, entry.again = true, false
  local args = { cwd = entry.cwd, path = entry.path, since = 'session', pending = true }
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  client.execute('xcsh.changes', args, function(err, result)
    entry.asking = false
    if shown[bufnr] ~= entry or not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    if not err then
      take(bufnr, entry, tick, wire.tbl(result))
    end
  end)
end

---Shows the hunks of a buffer on the screen, if its file has some.
---@param bufnr integer
local function look(bufnr)
  local cwd, path = owner(bufnr)
  if not cwd or not path then
    if shown[bufnr] then
      forget(bufnr)
    end
    return
  end
  local entry = shown[bufnr]
  if not entry or entry.cwd ~= cwd or entry.path ~= path then
    shown[bufnr] = { cwd = cwd, path = path, asking = false, again = false }
  end
  load(bufnr)
end

---The folders whose marks are to be drawn again.
---@type table<string, boolean>
local due = {}

---Asks again for the hunks of all files on the screen, once for all that happens in a moment.
---@param cwd string
function M.refresh(cwd)
  local first = next(due) == nil
  due[cwd] = true
  if not first then
    return
  end
  vim.defer_fn(function()
    due = {}
    local seen = {}
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local bufnr = vim.api.nvim_win_get_buf(window)
      if not seen[bufnr] then
        seen[bufnr] = true
        look(bufnr)
      end
    end
  end, M.delay)
end

---Requests the files of a session with changes to review.
---@param cwd string
---@param done fun(err: xcsh.Error?, files: xcsh.wire.ChangedFile[])
function M.files(cwd, done)
  local args = { cwd = cwd, since = 'session', pending = true }
  client.execute('xcsh.changes', args, function(err, result)
    if err then
      return done(err, {})
    end
    local files = vim.tbl_filter(function(file)
      file = wire.tbl(file)
      return wire.str(file.path) ~= '' and wire.num(file.pending) > 0
    end, wire.tbl(wire.tbl(result).files))
    local known = folder(cwd)
    known.paths = {}
    for _, file in ipairs(files) do
      known.paths[file.path] = true
    end
    M.learn(cwd, result)
    done(nil, files)
  end)
end

---Learns which files of a session have changes to review, and marks them.
---@param cwd string
function M.read(cwd)
  if client.can('xcsh.changes') then
    M.files(cwd, function(err)
      if not err then
        M.refresh(cwd)
      end
    end)
  end
end

---Handles a notification of the server.
---@param params table of xcsh/event or xcsh/sessionChanged
function M.follow(params)
  local event = params.event
  if event and event.type == 'changes_changed' then
    local known = folder(params.cwd)
    known.totals = wire.tbl(event.totals)
    for _, path in ipairs(wire.texts(event.paths)) do
      known.paths[path] = true
    end
    vim.cmd.redrawstatus({ bang = true })
    M.refresh(params.cwd)
  elseif event and event.type == 'rewound' then
    M.refresh(params.cwd)
  elseif not event and params.reason ~= 'shutdown' then
    folders[params.cwd] = nil
    M.refresh(params.cwd)
    M.read(params.cwd)
  end
end

---Returns the number of hunks to review in a folder, for the statusline.
---@param cwd string
---@return integer
function M.count(cwd)
  return M.totals(cwd).pending
end

---Reports whether a rewind of the folder's session is not completed.
---@param cwd string
function M.interrupted(cwd)
  return (folders[cwd] or {}).interrupted == true
end

---Clears everything, because the server has exited.
function M.forget()
  folders = {}
  for bufnr in pairs(shown) do
    forget(bufnr)
  end
end

local group = vim.api.nvim_create_augroup('xcsh_changes', {})
vim.api.nvim_create_autocmd('BufWinEnter', {
  group = group,
  callback = function(event)
    if next(folders) and owner(event.buf) then
      look(event.buf)
    end
  end,
})
vim.api.nvim_create_autocmd({ 'BufUnload', 'BufFilePost' }, {
  group = group,
  callback = function(event)
    if shown[event.buf] then
      forget(event.buf)
    end
  end,
})

return M
