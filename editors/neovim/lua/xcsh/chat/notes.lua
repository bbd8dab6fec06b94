-- Local notes: the answers of slash commands. They are shown at the end of the conversation until
-- the next turn begins, and are not part of the session.

local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---Older notes are removed.
local max_notes = 5

---Longer answers are cut.
local max_lines = 400

---@class xcsh.chat.Note
---@field sessionId string of the session that it is about
---@field command string without the slash
---@field answer string Markdown

---@param s xcsh.chat.State
---@param result xcsh.wire.PromptResult
function M.add(s, result)
  local sync = s.sync
  table.insert(s.notes, {
    -- A command such as /fork has changed the session, which is shown in a moment.
    sessionId = sync.expect and sync.expect.sessionId or sync.sessionId,
    command = wire.str(result.command),
    answer = wire.str(result.answer),
  })
  if #s.notes > max_notes then
    table.remove(s.notes, 1)
  end
end

---Drops the notes about other sessions.
---@param s xcsh.chat.State
---@param id string
function M.of_session(s, id)
  s.notes = vim.tbl_filter(function(note)
    return note.sessionId == id
  end, s.notes)
end

---@param to xcsh.chat.Page
---@param s xcsh.chat.State
function M.draw(to, s)
  for _, note in ipairs(s.notes) do
    to:add(('/%s · not part of the session'):format(text.one_line(note.command, 60)), 'XcshNote')
    local lines = text.lines(vim.trim(note.answer))
    to:add_all(vim.list_slice(lines, 1, max_lines))
    if #lines > max_lines then
      local line = '… %d more lines (:XcshPrompt /%s shows all)'
      to:add(line:format(#lines - max_lines, text.one_line(note.command, 60)), 'XcshNote')
    end
    to:add('')
  end
end

return M
