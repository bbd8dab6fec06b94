-- The conversation as a list: messages in order, with tool results attached to their calls.

local wire = require('xcsh.wire')

local M = {}

---@class xcsh.chat.Call
---@field status 'waiting'|'asking'|'running'|'done'|'failed'|'stopped'
---@field output? table the result, possibly partial
---@field entryId? string entry of the result; nil before it exists
---@field approval? table the pending approval of the call

---@class xcsh.chat.Item one message
---@field entryId string "" before it has one
---@field lastId string entry of its last message: a result that follows it, or itself
---@field size integer number of messages in it: itself and the results of its calls
---@field message table as stored, or as received so far
---@field live boolean still streaming
---@field typed? string what the user typed, if the message was made of it
---@field retried? boolean the answer failed, and its request was repeated
---@field calls table<string, xcsh.chat.Call>
---@field rev integer increases with every visible change

---@param message any
---@return string[]
local function call_ids(message)
  local ids = {}
  if message.role == 'assistant' and type(message.content) == 'table' then
    for _, block in ipairs(message.content) do
      if type(block) == 'table' and block.type == 'toolCall' then
        ids[#ids + 1] = wire.str(block.id)
      end
    end
  end
  return ids
end

---@param entry_id string
---@param message table
---@param is_live? boolean
---@return xcsh.chat.Item
function M.new(entry_id, message, is_live)
  local item = {
    entryId = entry_id,
    lastId = entry_id,
    size = 1,
    message = message,
    live = is_live or false,
    calls = {},
    rev = 1,
  }
  for _, id in ipairs(call_ids(message)) do
    item.calls[id] = { status = 'waiting' }
  end
  return item
end

---Replaces the message of an item. The state of its calls is kept.
---@param item xcsh.chat.Item
---@param message table
function M.set_message(item, message)
  local known = item.calls
  item.message, item.calls, item.rev = message, {}, item.rev + 1
  for _, id in ipairs(call_ids(message)) do
    item.calls[id] = known[id] or { status = 'waiting' }
  end
end

---Returns the newest answer with the call. Providers reuse ids.
---@param list xcsh.chat.Item[]
---@param id string
---@return xcsh.chat.Item?
local function owner(list, id)
  for i = #list, 1, -1 do
    if list[i].calls[id] then
      return list[i]
    end
  end
end

---Changes the newest call with the id, if there is one.
---@param list xcsh.chat.Item[]
---@param id string
---@param change fun(call: xcsh.chat.Call)
function M.with_call(list, id, change)
  local item = owner(list, id)
  if item then
    change(item.calls[id])
    item.rev = item.rev + 1
  end
end

---Adds a result to its call.
---@param item xcsh.chat.Item
---@param message table
---@param entry_id string
---@param is_last boolean the item is the last one before the result
local function answered(item, message, entry_id, is_last)
  local call = item.calls[wire.str(message.toolCallId)]
  if call.entryId ~= entry_id then
    item.size = item.size + 1
  end
  if is_last and entry_id ~= '' then
    item.lastId = entry_id
  end
  call.status = message.isError == true and 'failed' or 'done'
  call.output, call.entryId, call.approval = message, entry_id, nil
  item.rev = item.rev + 1
end

---@param list xcsh.chat.Item[]
---@param entry_id string
function M.has_entry(list, entry_id)
  -- Duplicates follow soon after the original.
  for i = #list, math.max(1, #list - 200), -1 do
    if list[i].entryId == entry_id then
      return true
    end
  end
  return false
end

---Appends a message of the session, unless it is already in the list.
---@param list xcsh.chat.Item[]
---@param entry_id string
---@param message table
function M.add(list, entry_id, message)
  local item = message.role == 'toolResult' and owner(list, wire.str(message.toolCallId))
  if item then
    answered(item, message, entry_id, item == list[#list])
  elseif entry_id == '' or not M.has_entry(list, entry_id) then
    list[#list + 1] = M.new(entry_id, message)
  end
end

---Removes an unfinished answer.
---@param list xcsh.chat.Item[]
function M.drop_live(list)
  while list[#list] and list[#list].live do
    list[#list] = nil
  end
end

---Marks the streaming message as stored in the session.
---@param list xcsh.chat.Item[]
---@param entry_id string
---@param message table
function M.finish(list, entry_id, message)
  local last = list[#list]
  if not (last and last.live and message.role == 'assistant') then
    return M.add(list, entry_id, message)
  end
  if entry_id ~= '' and M.has_entry(list, entry_id) then
    list[#list] = nil
    return
  end
  M.set_message(last, message)
  last.entryId, last.lastId, last.live = entry_id, entry_id, false
end

---@param item? xcsh.chat.Item
local function failed(item)
  if not item or item.live then
    return false
  end
  return item.message.role == 'assistant' and item.message.stopReason == 'error'
end

---Marks the last item as repeated, if it is a failed answer.
---@param list xcsh.chat.Item[]
function M.retried(list)
  local last = list[#list]
  if failed(last) and not last.retried then
    last.retried, last.rev = true, last.rev + 1
  end
end

---Shows a failed answer at the end again, because its request is not repeated.
---@param list xcsh.chat.Item[]
function M.not_retried(list)
  local last = list[#list]
  if last and last.retried then
    last.retried, last.rev = nil, last.rev + 1
  end
end

---Reports whether an old item looks the same as a new one, so that it can be kept.
---@param old xcsh.chat.Item?
---@param new xcsh.chat.Item
local function same(old, new)
  if not old or old.live or new.live or old.entryId ~= new.entryId or old.entryId == '' then
    return false
  end
  if old.retried ~= new.retried or old.message.role ~= new.message.role then
    return false
  end
  for id, call in pairs(new.calls) do
    local was = old.calls[id]
    if not was or was.entryId ~= call.entryId or was.status ~= call.status or was.approval then
      return false
    end
  end
  return true
end

---Returns the status of a tool call without a result in the session.
---@param tool table
local function tool_status(tool)
  if tool.ended ~= true then
    return 'running'
  end
  return tool.isError == true and 'failed' or 'done'
end

---Returns the items of consecutive messages.
---@param messages any
---@return xcsh.chat.Item[]
function M.fold(messages)
  local list, owners = {}, {}
  for _, entry in ipairs(wire.tbl(messages)) do
    local message, entry_id = wire.tbl(entry.message), wire.str(entry.entryId)
    local of = message.role == 'toolResult' and owners[wire.str(message.toolCallId)]
    if of then
      answered(of, message, entry_id, of == list[#list])
    else
      local item = M.new(entry_id, message)
      if message.role == 'assistant' then
        M.retried(list)
      end
      list[#list + 1] = item
      for call_id in pairs(item.calls) do
        owners[call_id] = item
      end
    end
  end
  return list
end

---Joins two parts of a conversation. A page can end between a call and its results.
---@param before xcsh.chat.Item[]
---@param after xcsh.chat.Item[]
---@return xcsh.chat.Item[]
function M.join(before, after)
  local list = vim.list_slice(before)
  for _, item in ipairs(after) do
    local message = item.message
    local of = message.role == 'toolResult' and owner(before, wire.str(message.toolCallId))
    if of then
      answered(of, message, item.entryId, of == list[#list])
    else
      if #list == #before and message.role == 'assistant' then
        M.retried(list)
      end
      list[#list + 1] = item
    end
  end
  return list
end

---Returns the first item that begins with a message of its own, and its place in an older list.
---@param was xcsh.chat.Item[]
---@param list xcsh.chat.Item[]
---@return integer? at, integer? was_at
local function overlap(was, list)
  for at, item in ipairs(list) do
    if item.entryId ~= '' and item.message.role ~= 'toolResult' then
      for was_at = #was, 1, -1 do
        -- Two messages can come from one entry.
        local other = was[was_at]
        if other.entryId == item.entryId and other.message.role == item.message.role then
          return at, was_at
        end
      end
      return
    end
  end
end

---Returns the items of a snapshot. Unchanged items are the same tables as before.
---@param snapshot table
---@param was xcsh.chat.Item[]
---@return xcsh.chat.Item[] list, integer? at, integer? was_at a common item of both lists
function M.of_snapshot(snapshot, was)
  local list = M.fold(snapshot.messages)
  local is_partial = type(snapshot.partial) == 'table'
  if is_partial or type(snapshot.retry) == 'table' then
    M.retried(list)
  end
  local at, was_at = overlap(was, list)
  local offset = at and was_at - at or 0
  for i, item in ipairs(list) do
    if same(was[offset + i], item) then
      list[i] = was[offset + i]
    end
  end
  -- The tools of a snapshot belong to completed answers.
  for _, tool in ipairs(wire.tbl(snapshot.tools)) do
    M.with_call(list, wire.str(tool.toolCallId), function(call)
      if not call.entryId then
        call.status = tool_status(tool)
        if type(tool.partialResult) == 'table' then
          call.output = tool.partialResult
        end
      end
    end)
  end
  if is_partial then
    list[#list + 1] = M.new('', snapshot.partial, true)
  end
  return list, at, was_at
end

---Marks the calls without a result as stopped.
---@param list xcsh.chat.Item[]
function M.stop(list)
  for _, item in ipairs(list) do
    for _, call in pairs(item.calls) do
      if call.status == 'waiting' or call.status == 'asking' or call.status == 'running' then
        call.status, call.approval, item.rev = 'stopped', nil, item.rev + 1
      end
    end
  end
end

---Marks exactly the calls with a pending approval. Returns the pending approvals.
---@param list xcsh.chat.Item[]
---@param before table[]
---@param now table[]
---@return table[]
function M.approve(list, before, now)
  -- The id of a prompt is the id of its call, with a suffix such as "#2" if the id is repeated.
  local function call_id(prompt)
    return (wire.str(prompt.id):gsub('#%d+$', ''))
  end
  for _, prompt in ipairs(before) do
    M.with_call(list, call_id(prompt), function(call)
      call.approval = nil
      if call.status == 'asking' then
        call.status = 'running'
      end
    end)
  end
  for _, prompt in ipairs(now) do
    M.with_call(list, call_id(prompt), function(call)
      if call.status ~= 'done' and call.status ~= 'failed' then
        call.status, call.approval = 'asking', prompt
      end
    end)
  end
  return now
end

local todo_states =
  { pending = true, in_progress = true, completed = true, abandoned = true, blocked = true }

---Returns the first argument that is a non-empty string.
---@param ... any
local function first_text(...)
  for i = 1, select('#', ...) do
    local text = wire.str((select(i, ...)))
    if text ~= '' then
      return text
    end
  end
  return ''
end

---Reports whether a message is the result of a call that changed the model's plan.
---@param message table
---@return boolean
function M.is_plan(message)
  local details = wire.tbl(message.details)
  return (message.toolName == 'todo' or message.toolName == 'todo_write')
    and message.isError ~= true
    and details.op ~= 'view'
    and type(details.phases) == 'table'
end

---Returns the model's plan: the phases of a successful todo or todo_write.
---@param phases any
---@return { name: string, todos: { text: string, status: string, blocker: string }[] }[]
function M.todos(phases)
  return vim.tbl_map(function(phase)
    phase = wire.tbl(phase)
    local todos = vim.tbl_map(function(task)
      task = wire.tbl(task)
      return {
        text = first_text(task.content, task.title, task.text),
        status = todo_states[task.status] and task.status or 'pending',
        blocker = wire.str(task.blocker),
      }
    end, wire.tbl(phase.tasks or phase.todos))
    return { name = first_text(phase.name, phase.title), todos = todos }
  end, wire.tbl(phases))
end

return M
