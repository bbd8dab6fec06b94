-- Answers to pending tool calls, given in the conversation. A key answers a call only if its
-- question was visible before the key was pressed: keys typed ahead, or twice, must not allow a
-- call that the user has not read. Such a call is "armed", which happens when the user enters the
-- conversation or pauses typing for a moment.

local approvals = require('xcsh.approvals')
local intent = require('xcsh.intent')
local render = require('xcsh.chat.render')
local view = require('xcsh.view')

local M = {}

---Time without a key press after which a visible question counts as read.
M.quiet = 700 -- milliseconds

---The questions in each conversation, and whether keys may answer them.
---@type table<integer, table<string, boolean>>
local armed = {}

---@param chat xcsh.chat.Chat
---@param id string
---@return boolean
local function on_screen(chat, id)
  local first = render.row_of_approval(chat.bufnr, id)
  if not first then
    return false
  end
  local last = first
  while render.approval_at(chat.bufnr, last + 1) == id do
    last = last + 1
  end
  for _, window in ipairs(vim.fn.win_findbuf(chat.bufnr)) do
    if vim.fn.line('w0', window) <= last and vim.fn.line('w$', window) >= first then
      return true
    end
  end
  return false
end

---Arms the visible questions.
---@param chat xcsh.chat.Chat
function M.arm(chat)
  for id in pairs(armed[chat.bufnr] or {}) do
    if on_screen(chat, id) then
      armed[chat.bufnr][id] = true
    end
  end
end

---Reports whether keys can answer a question.
---@param chat xcsh.chat.Chat
---@param id string
function M.armed(chat, id)
  return (armed[chat.bufnr] or {})[id] == true
end

---Arms the questions after a pause in typing.
---@param chat xcsh.chat.Chat
local function arm_when_quiet(chat)
  local before = intent.pressed()
  vim.defer_fn(function()
    if not vim.api.nvim_buf_is_valid(chat.bufnr) or #chat.state.approvals == 0 then
      return
    elseif intent.pressed() == before then
      M.arm(chat)
    else
      arm_when_quiet(chat)
    end
  end, M.quiet)
end

---Updates the visible questions of a conversation.
---@param chat xcsh.chat.Chat
function M.drawn(chat)
  local before, now, new = armed[chat.bufnr] or {}, {}, false
  for _, prompt in ipairs(chat.state.approvals) do
    new = new or before[prompt.id] == nil
    now[prompt.id] = before[prompt.id] or false
  end
  armed[chat.bufnr] = now
  if new then
    arm_when_quiet(chat)
  end
end

---Watches the user's activity in a conversation.
---@param chat xcsh.chat.Chat
function M.watch(chat)
  vim.api.nvim_create_autocmd({ 'CursorHold', 'WinEnter' }, {
    buffer = chat.bufnr,
    callback = function()
      M.arm(chat)
    end,
  })
end

---@param bufnr integer
function M.forget(bufnr)
  armed[bufnr] = nil
end

---Returns the call that an answer applies to: the one at the cursor, else the oldest pending one.
---@param chat xcsh.chat.Chat
---@return table?
local function asked(chat)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local here = vim.api.nvim_get_current_buf() == chat.bufnr and render.approval_at(chat.bufnr, row)
  for _, prompt in ipairs(chat.state.approvals) do
    if prompt.id == here then
      return prompt
    end
  end
  return chat.state.approvals[1]
end

---Opens the review of the change that a call proposes.
---@param chat xcsh.chat.Chat
function M.review(chat)
  local prompt = asked(chat)
  if not prompt or not approvals.open_review(chat.cwd, prompt.id) then
    view.notify('No change is pending.')
  end
end

---@param chat xcsh.chat.Chat
---@param decision xcsh.Decision
function M.answer(chat, decision)
  local prompt = asked(chat)
  if not prompt then
    return view.notify('No approval is pending.')
  elseif not M.armed(chat, prompt.id) then
    return view.notify('This approval has just appeared. Read it, then press the key again.')
  elseif decision == 'session' and approvals.allows(prompt) == '' then
    return view.notify('This call can only be allowed once: press a to allow it or d to deny it.')
  elseif decision == 'session-wider' and approvals.allows_wider(prompt) == '' then
    return view.notify('Only the reading tools of a server can be allowed together.')
  end
  -- The same key, pressed twice, must not answer the next question.
  for id in pairs(armed[chat.bufnr]) do
    armed[chat.bufnr][id] = false
  end
  arm_when_quiet(chat)
  approvals.decide(chat.cwd, prompt, decision)
end

return M
