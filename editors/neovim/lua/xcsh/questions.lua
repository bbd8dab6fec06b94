-- Questions of the engine's extensions. Each is announced, and shown in a visible chat; nothing
-- opens by itself. :XcshApprovals, or a key in the chat, opens the oldest one.

local dialogs = require('xcsh.dialogs')
local text = require('xcsh.text')
local waiting = require('xcsh.waiting')
local wire = require('xcsh.wire')

local M = {}

---More questions of one folder than this are not shown: an extension could ask without end.
local max_pending = 100

---@class xcsh.PendingQuestion
---@field cwd string
---@field question xcsh.wire.Question
---@field dialog? xcsh.Dialog the open dialog
---@field gone fun()[] called once it is not pending any more

---The pending questions by folder, oldest first.
---@type table<string, xcsh.PendingQuestion[]>
local pending = {}

---Returns a question on one line.
---@param question table
---@return string
function M.summary(question)
  local parts = {}
  for _, part in ipairs({ wire.str(question.title), wire.str(question.message) }) do
    if vim.trim(part) ~= '' then
      parts[#parts + 1] = text.one_line(vim.trim(part))
    end
  end
  return #parts > 0 and table.concat(parts, ' ') or 'An extension asks a question.'
end

---@param cwd string
---@param id string
---@return xcsh.PendingQuestion?, integer?
local function find(cwd, id)
  for i, entry in ipairs(pending[cwd] or {}) do
    if entry.question.id == id then
      return entry, i
    end
  end
end

---Removes a question; returns false if it is not pending any more.
---@param entry xcsh.PendingQuestion
---@return boolean
local function remove(entry)
  local known, i = find(entry.cwd, entry.question.id)
  if known ~= entry then
    return false
  end
  table.remove(pending[entry.cwd], i)
  for _, gone in ipairs(entry.gone) do
    gone()
  end
  return true
end

---Removes a question that was not answered here.
---@param entry xcsh.PendingQuestion
local function expire(entry)
  if remove(entry) and entry.dialog then
    entry.dialog.expire()
  end
end

---@param entry xcsh.PendingQuestion
---@param answer xcsh.DialogAnswer
local function settle(entry, answer)
  entry.dialog = nil
  if not remove(entry) then
    if not answer.cancelled then
      require('xcsh.view').notify('This question is no longer pending.')
    end
    return
  end
  local args = vim.tbl_extend('force', answer, { cwd = entry.cwd, id = entry.question.id })
  require('xcsh.client').execute('xcsh.answer', args, function(err)
    if err then
      require('xcsh.view').error(err)
    end
  end)
end

---@param entry xcsh.PendingQuestion
local function open(entry)
  if entry.dialog and entry.dialog.focus() then
    return
  end
  -- The dialog can answer before it is returned.
  local dialog = dialogs.open(entry.question, function(answer)
    settle(entry, answer)
  end)
  if find(entry.cwd, entry.question.id) == entry then
    entry.dialog = dialog
  end
end

---Removes the question when the engine stops waiting for it.
---@param entry xcsh.PendingQuestion
local function watch_clock(entry)
  local deadline = wire.num(entry.question['until'])
  if deadline <= 0 then
    return
  end
  local seconds, microseconds = vim.uv.gettimeofday()
  local delay = deadline - (seconds * 1000 + math.floor(microseconds / 1000))
  local timer = assert(vim.uv.new_timer())
  table.insert(entry.gone, function()
    timer:stop()
    if not timer:is_closing() then
      timer:close()
    end
  end)
  timer:start(
    math.floor(math.max(0, math.min(delay, 2 ^ 31))),
    0,
    vim.schedule_wrap(function()
      expire(entry)
    end)
  )
end

---@param cwd string
local function on_screen(cwd)
  local chat = package.loaded['xcsh.chat']
  return chat ~= nil and chat.visible(cwd)
end

---@param cwd string
---@param question any
local function add(cwd, question)
  question = wire.tbl(question)
  pending[cwd] = pending[cwd] or {}
  local is_known = find(cwd, wire.str(question.id)) ~= nil
  if wire.str(question.id) == '' or is_known or #pending[cwd] >= max_pending then
    return
  elseif not dialogs.supports(question) then
    return
  end
  local entry = { cwd = cwd, question = question, gone = {} } ---@type xcsh.PendingQuestion
  table.insert(pending[cwd], entry)
  local forget = waiting.add({
    kind = 'question',
    cwd = cwd,
    says = M.summary(question),
    quiet = on_screen(cwd),
    open = function()
      open(entry)
    end,
  })
  table.insert(entry.gone, forget)
  watch_clock(entry)
end

---@param cwd string
---@param keep table<string, boolean> ids
local function drop_others(cwd, keep)
  for _, entry in ipairs(vim.list_slice(pending[cwd] or {})) do
    if not keep[entry.question.id] then
      expire(entry)
    end
  end
end

---Handles an event of the server.
---@param params xcsh.Event
function M.follow(params)
  local event, cwd = params.event, params.cwd
  if event.type == 'question_asked' then
    add(cwd, event)
  elseif event.type == 'question_gone' then
    local entry = find(cwd, wire.str(event.id))
    if entry then
      expire(entry)
    end
  elseif event.type == 'engine_changed' and (event.state == 'failed' or event.state == 'known') then
    drop_others(cwd, {})
  end
end

---Takes the questions of a snapshot, which are all that are pending.
---@param cwd string
---@param questions any
function M.restore(cwd, questions)
  local keep = {}
  for _, question in ipairs(wire.tbl(questions)) do
    keep[wire.str(wire.tbl(question).id)] = true
  end
  drop_others(cwd, keep)
  for _, question in ipairs(wire.tbl(questions)) do
    add(cwd, question)
  end
end

---Opens the oldest question of a folder.
---@param cwd string
function M.answer(cwd)
  local entry = (pending[cwd] or {})[1]
  if not entry then
    return require('xcsh.view').notify('No question is pending.')
  end
  open(entry)
end

---Returns the pending questions of a folder, oldest first.
---@param cwd string
---@return xcsh.wire.Question[]
function M.pending(cwd)
  return vim.tbl_map(function(entry)
    return entry.question
  end, pending[cwd] or {})
end

---Clears everything, because the server has stopped.
function M.forget()
  for cwd in pairs(pending) do
    drop_others(cwd, {})
  end
end

return M
