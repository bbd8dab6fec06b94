-- The start page of a folder: its newest sessions, and the keys for everything else.

local client = require('xcsh.client')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---The number of sessions: each has a digit as its key.
local most = 9

---@class xcsh.StartPage
---@field cwd string
---@field bufnr integer
---@field sessions table[] the sessions by their digit
---@field lines table<integer, integer> the digit by the line, from 1
---@field asked integer requests for the sessions so far

---The page; there is one buffer for all folders.
---@type xcsh.StartPage?
local page

---@param bufnr integer
local function close(bufnr)
  pcall(vim.api.nvim_buf_delete, bufnr, { force = true })
end

---@param this xcsh.StartPage
local function chat(this)
  close(this.bufnr)
  require('xcsh.chat').open(this.cwd)
end

---Runs a command that switches sessions, and opens the chat if it did.
---@param this xcsh.StartPage
---@param name string
---@param args table<string, any>
---@param done string the member of the result that says so
local function switch(this, name, args, done)
  args.cwd = this.cwd
  require('xcsh.commands').run(name, args, false, function(result, idle)
    if idle and result[done] == true then
      chat(this)
    end
  end)
end

---@param this xcsh.StartPage
---@param digit? integer
local function resume(this, digit)
  local session = digit and this.sessions[digit]
  if session then
    switch(this, 'xcsh.resume', { target = session.path }, 'switched')
  end
end

---@class xcsh.StartKey
---@field lhs string
---@field does string
---@field run fun(this: xcsh.StartPage)

---@type xcsh.StartKey[]
local keys = {
  {
    lhs = 'n',
    does = 'new session',
    run = function(this)
      switch(this, 'xcsh.new', {}, 'created')
    end,
  },
  {
    lhs = 'l',
    does = 'all sessions of this folder',
    run = function(this)
      require('xcsh.commands').run('xcsh.list', { cwd = this.cwd })
    end,
  },
  { lhs = 'c', does = 'chat', run = chat },
  {
    lhs = 'p',
    does = 'commands',
    run = function(this)
      require('xcsh.commands').pick(this.cwd)
    end,
  },
  {
    lhs = 'q',
    does = 'close this page',
    run = function(this)
      close(this.bufnr)
    end,
  },
}

---Returns the sessions that can be resumed. The server's answer is not trusted.
---@param result any
---@return table[]
local function resumable(result)
  local sessions = {}
  for _, session in ipairs(wire.tbl(wire.tbl(result).sessions)) do
    if #sessions < most and wire.str(wire.tbl(session).path) ~= '' then
      sessions[#sessions + 1] = session
    end
  end
  return sessions
end

---Returns a session as one line: names come from session files, so they can contain anything.
---@param session table
---@return string
local function about(session)
  local name = wire.str(session.name)
  local parts = { text.one_line(name ~= '' and name or wire.str(session.id)) }
  local ago = wire.str(session.timeAgo)
  if ago ~= '' then
    parts[#parts + 1] = text.one_line(ago, 40)
  end
  return table.concat(parts, ' · ')
end

---Returns the text of the page, and the digit of each line that shows a session.
---@param cwd string
---@param sessions table[]
---@return string[] lines, table<integer, integer> digits
function M.render(cwd, sessions)
  local folder = vim.fs.basename(cwd)
  local lines = { 'xcsh · ' .. text.one_line(folder ~= '' and folder or cwd), '' }
  local digits = {}
  for digit, session in ipairs(sessions) do
    lines[#lines + 1] = ('  %d  %s'):format(digit, about(session))
    digits[#lines] = digit
  end
  if #sessions == 0 then
    lines[#lines + 1] = 'This folder has no sessions yet.'
  end
  lines[#lines + 1] = ''
  for _, key in ipairs(keys) do
    lines[#lines + 1] = ('  %s  %s'):format(key.lhs, key.does)
  end
  return lines, digits
end

---@param this xcsh.StartPage
local function set_keys(this)
  local function map(lhs, desc, act)
    vim.keymap.set('n', lhs, act, { buffer = this.bufnr, nowait = true, desc = 'xcsh: ' .. desc })
  end
  for digit = 1, most do
    map(tostring(digit), ('resume session %d'):format(digit), function()
      resume(this, digit)
    end)
  end
  map('<CR>', 'resume the session under the cursor', function()
    resume(this, this.lines[vim.api.nvim_win_get_cursor(0)[1]])
  end)
  for _, key in ipairs(keys) do
    map(key.lhs, key.does, function()
      key.run(this)
    end)
  end
end

---@param cwd string
---@param sessions table[]
local function show(cwd, sessions)
  local lines, digits = M.render(cwd, sessions)
  local bufnr = view.scratch('start', lines)
  page = { cwd = cwd, bufnr = bufnr, sessions = sessions, lines = digits, asked = 0 }
  set_keys(page)
  -- Only now, because a new window starts at the first line.
  vim.api.nvim_win_set_cursor(0, { math.min(3, #lines), 0 })
end

---Shows the page of the working directory.
function M.open()
  local cwd = require('xcsh.config').root()
  local intent = require('xcsh.intent').begin()
  client.execute('xcsh.recent', { cwd = cwd, limit = most }, function(err, result)
    intent:finish()
    if err then
      return view.error(err)
    end
    intent:show(cwd, 'Recent Sessions', function()
      show(cwd, resumable(result))
    end)
  end)
end

---Reloads the sessions of the visible page. Only the newest request counts.
---@param this xcsh.StartPage
local function refresh(this)
  this.asked = this.asked + 1
  local ask = this.asked
  client.execute('xcsh.recent', { cwd = this.cwd, limit = most }, function(err, result)
    if err or page ~= this or ask ~= this.asked or not vim.api.nvim_buf_is_valid(this.bufnr) then
      return
    end
    this.sessions = resumable(result)
    local lines
    lines, this.lines = M.render(this.cwd, this.sessions)
    view.fill(this.bufnr, lines)
  end)
end

client.on('notification', function(params)
  -- Events of a turn, which arrive often, change no session of the list.
  if not page or params.event or params.cwd ~= page.cwd then
    return
  end
  if vim.api.nvim_buf_is_valid(page.bufnr) then
    refresh(page)
  else
    page = nil
  end
end)

return M
