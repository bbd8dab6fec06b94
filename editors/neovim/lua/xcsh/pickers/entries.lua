-- Lets the user select an entry of a session. A small session is one list. Of a large one, the
-- newest messages of the conversation are listed, and its branches on demand.

local client = require('xcsh.client')
local text = require('xcsh.text')
local tree = require('xcsh.tree')
local wire = require('xcsh.wire')

local M = {}

local page_messages = 100
local page_bytes = 1024 * 1024

---Returns an entry as one line.
---@param node xcsh.TreeNode
---@return string
function M.line(node)
  local role = type(node.role) == 'string' and node.role or node.type
  role = role:gsub('(%l)(%u)', '%1 %2'):gsub('_', ' '):lower()
  local label = type(node.label) == 'string' and (' [%s]'):format(node.label) or ''
  return ('%s: %s%s'):format(role, node.preview, label)
end

---@class xcsh.EntryChoice
---@field node? xcsh.TreeNode an entry, or a run of entries
---@field says? string
---@field open? fun() shows another list instead of answering

---@class xcsh.EntryQuestion
---@field prompt string
---@field subject xcsh.tree.Subject
---@field answer xcsh.Answer

---@param question xcsh.EntryQuestion
---@param choices xcsh.EntryChoice[]
local function select(question, choices)
  require('xcsh.pickers.select').choose(choices, {
    prompt = question.prompt,
    kind = 'xcsh.entry',
    format_item = function(choice)
      return choice.says or M.line(choice.node)
    end,
  }, function(choice)
    if choice and choice.open then
      return choice.open()
    end
    question.answer(nil, choice and choice.node.id)
  end)
end

---Reads, and shows the result if the user is still waiting.
---@param question xcsh.EntryQuestion
---@param read fun(): any
---@param show fun(result: any)
local function load(question, read, show)
  local intent = require('xcsh.intent').begin()
  tree.run(read, function(err, result)
    intent:finish()
    if err then
      return question.answer(err)
    end
    intent:show(question.subject.cwd, question.prompt, function()
      show(result)
    end)
  end)
end

---Lists the entries of a run, a page at a time.
---@param question xcsh.EntryQuestion
---@param run xcsh.TreeNode
---@param choices xcsh.EntryChoice[]
---@param cursor? string
local function open_run(question, run, choices, cursor)
  local left = wire.num(run.count) - #choices
  load(question, function()
    local args = { under = run.id, limit = math.min(left, tree.page), cursor = cursor }
    local nodes, next_cursor = tree.read(question.subject, args)
    return { nodes = nodes, cursor = next_cursor }
  end, function(page)
    for i, node in ipairs(page.nodes) do
      if i <= left then
        choices[#choices + 1] = { node = node }
      end
    end
    local shown = vim.list_slice(choices)
    if page.cursor and #page.nodes > 0 and #page.nodes < left then
      shown[#shown + 1] = {
        says = 'More entries',
        open = function()
          open_run(question, run, choices, page.cursor)
        end,
      }
    end
    select(question, shown)
  end)
end

---Lists the branches of a session as runs of entries, a page at a time.
---@param question xcsh.EntryQuestion
---@param choices xcsh.EntryChoice[]
---@param cursor? string
local function open_branches(question, choices, cursor)
  load(question, function()
    local args = { fold = true, limit = tree.page, cursor = cursor }
    local nodes, next_cursor = tree.read(question.subject, args)
    return { nodes = nodes, cursor = next_cursor }
  end, function(page)
    for _, run in ipairs(page.nodes) do
      local count = wire.num(run.count)
      choices[#choices + 1] = count <= 1 and { node = run }
        or {
          says = ('%s · %d entries'):format(M.line(run), count),
          open = function()
            local first = vim.tbl_extend('force', run, { count = 1 })
            open_run(question, run, { { node = first } })
          end,
        }
    end
    local shown = vim.list_slice(choices)
    if page.cursor then
      shown[#shown + 1] = {
        says = 'More branches',
        open = function()
          open_branches(question, choices, page.cursor)
        end,
      }
    end
    select(question, shown)
  end)
end

---@param entry any
---@return xcsh.EntryChoice
local function message_choice(entry)
  entry = wire.tbl(entry)
  local message = wire.tbl(entry.message)
  local preview = text.one_line(wire.text_of(message):sub(1, 1000), 120)
  local node = { id = wire.str(entry.entryId), type = 'message', preview = preview }
  node.role = wire.str(message.role)
  return { node = node }
end

---Lists the messages of the conversation, newest first, a page at a time.
---@param question xcsh.EntryQuestion
---@param choices xcsh.EntryChoice[]
---@param cursor? string
local function open_conversation(question, choices, cursor)
  local intent = require('xcsh.intent').begin()
  local args = { limit = page_messages, maxBytes = page_bytes, cursor = cursor }
  args = vim.tbl_extend('error', args, question.subject)
  client.execute('xcsh.messages', args, function(err, result)
    intent:finish()
    if err then
      return question.answer(err)
    end
    local messages = wire.tbl(result.messages)
    for i = #messages, 1, -1 do
      choices[#choices + 1] = message_choice(messages[i])
    end
    local shown = vim.list_slice(choices)
    local older = wire.str(wire.tbl(result.older).cursor)
    if older ~= '' then
      shown[#shown + 1] = {
        says = 'Earlier messages',
        open = function()
          open_conversation(question, choices, older)
        end,
      }
    end
    shown[#shown + 1] = {
      says = 'All branches',
      open = function()
        open_branches(question, {})
      end,
    }
    intent:show(question.subject.cwd, question.prompt, function()
      select(question, shown)
    end)
  end)
end

---Lets the user select an entry.
---@param question xcsh.EntryQuestion
function M.choose(question)
  load(question, function()
    local nodes, cursor = tree.read(question.subject, { limit = tree.page })
    return { nodes = nodes, large = cursor ~= nil }
  end, function(page)
    if page.large then
      return open_conversation(question, {})
    end
    select(
      question,
      vim.tbl_map(function(node)
        return { node = node }
      end, page.nodes)
    )
  end)
end

return M
