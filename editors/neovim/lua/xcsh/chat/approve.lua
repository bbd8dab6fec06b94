-- Answers to tool calls that wait, given in the conversation.

local approvals = require('xcsh.approvals')
local render = require('xcsh.chat.render')

local M = {}

---The call that an answer is for: that below the cursor, else the one that waits longest.
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

---@param chat xcsh.chat.Chat
---@param decision xcsh.Decision
function M.answer(chat, decision)
  local prompt = asked(chat)
  if not prompt then
    return require('xcsh.view').notify('Nothing waits for your answer.')
  end
  if decision == 'session' and approvals.allows(prompt) == '' then
    return require('xcsh.view').notify('This can only be allowed once: press a, or d to deny it.')
  end
  approvals.decide(chat.cwd, prompt.id, decision)
end

return M
