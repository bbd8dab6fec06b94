-- A tool call on the page: a line with the call and its status, and, folded below it, its
-- arguments, its result and, while it is pending, the approval prompt.

local approvals = require('xcsh.approvals')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---Longer output is truncated here.
local max_output = 400 -- lines

local signs = {
  waiting = { '·', 'XcshMeta' },
  asking = { '?', 'XcshApproval' },
  running = { '…', 'XcshToolRunning' },
  done = { '✓', 'XcshToolDone' },
  failed = { '✗', 'XcshToolFailed' },
  stopped = { '■', 'XcshMeta' },
}

---The most informative arguments of a call, in order of preference.
local telling = { 'path', 'file', 'file_path', 'command', 'pattern', 'query', 'url', 'title' }

---@param block table
---@return string
local function subject(block)
  local args = wire.tbl(block.arguments)
  for _, name in ipairs(telling) do
    if wire.str(args[name]) ~= '' then
      return text.one_line(args[name], 120)
    end
  end
  -- The arguments are still being streamed.
  local path = wire.str(block.partialJson):match('"path"%s*:%s*"([^"\\]+)"')
  return path and text.one_line(path, 120) or ''
end

---@param lines string[]
---@param max integer
local function shortened(lines, max)
  if #lines <= max then
    return lines
  end
  local kept = vim.list_slice(lines, 1, max)
  kept[#kept + 1] = ('… %d more lines (:XcshDump shows all)'):format(#lines - max)
  return kept
end

---@param page xcsh.chat.Page
---@param output table?
local function result(page, output)
  if not output then
    return
  end
  local patch = wire.str(wire.tbl(output.details).patch)
  if patch ~= '' then
    return page:fenced(shortened(text.lines((patch:gsub('\n$', ''))), max_output), 'diff')
  end
  local said = wire.text_of(output):gsub('\n$', '')
  if said ~= '' then
    page:fenced(shortened(text.lines(said), max_output))
  end
end

---Adds the transcripts of the subagents of a call, which :XcshTranscript opens.
---@param page xcsh.chat.Page
---@param output table?
local function transcripts(page, output)
  local details = wire.tbl(wire.tbl(output).details)
  for _, progress in ipairs(wire.tbl(details.progress)) do
    local path = wire.str(wire.tbl(progress).sessionFile)
    if path ~= '' and progress.status ~= 'pending' then
      page:add(':XcshTranscript ' .. text.one_line(path), 'XcshMeta')
    end
  end
  for _, done in ipairs(wire.tbl(details.results)) do
    local path = wire.str(wire.tbl(done).outputPath)
    if path ~= '' then
      page:add(':XcshTranscript ' .. text.one_line((path:gsub('%.md$', '.jsonl'))), 'XcshMeta')
    end
  end
end

---@param page xcsh.chat.Page
---@param block table
local function arguments(page, block)
  local args = wire.tbl(block.arguments)
  local command = wire.str(args.command)
  if command:find('\n') or #command > 120 then
    page:fenced(shortened(text.lines(command), max_output), 'sh')
  elseif wire.str(args.content) ~= '' then
    page:fenced(shortened(text.lines(args.content), max_output))
  end
  if wire.str(block.argumentsError) ~= '' then
    page:add(text.one_line(block.argumentsError), 'XcshError')
  end
end

---@param page xcsh.chat.Page
---@param prompt table the pending approval
local function question(page, prompt)
  local preview = wire.tbl(prompt.preview)
  local params = {
    title = preview.title,
    task = prompt.task,
    tool = wire.str(prompt.tool),
    args = prompt.args,
    outside = prompt.outside,
    protected = prompt.protected,
    changed = prompt.changed,
    unsandboxed = prompt.unsandboxed,
    blocked = prompt.blocked,
    rules = prompt.rules,
    wider = prompt.wider,
  }
  local first = #page.lines + 1
  page:add_all(approvals.question(params), 'XcshApproval')
  local diff = wire.str(preview.diff)
  if diff ~= '' then
    page:fenced(text.whole((diff:gsub('\n$', ''))), 'diff')
  end
  local allows = approvals.allows(params)
  page:add('a  allow', 'XcshApproval')
  if allows ~= '' then
    page:add('s  allow for this session: ' .. allows, 'XcshApproval')
  end
  local wider = approvals.allows_wider(params)
  if wider ~= '' then
    page:add('S  allow for this session: ' .. wider, 'XcshApproval')
  end
  page:add('d  deny', 'XcshApproval')
  if diff ~= '' and params.tool ~= 'exit_plan_mode' then
    page:add('o  review the change in the file', 'XcshApproval')
  end
  for row = first, #page.lines do
    page.calls[row] = wire.str(prompt.id)
  end
end

---@param page xcsh.chat.Page
---@param block table the call as the model made it
---@param call xcsh.chat.Call
function M.add(page, block, call)
  local sign = signs[call.status]
  local what = subject(block)
  local name = text.one_line(wire.str(block.name), 60)
  local head = ('%s %s%s'):format(sign[1], name, what ~= '' and ' ' .. what or '')
  local row = #page.lines + 1
  page:fold(head, 'XcshTool', function()
    arguments(page, block)
    result(page, call.output)
    if block.name == 'task' then
      transcripts(page, call.output)
    end
  end)
  page:mark(row, 0, { end_col = #sign[1], hl_group = sign[2], priority = 4200 })
  if call.approval then
    question(page, call.approval)
  end
end

---Adds a result whose call is no longer in the context.
---@param page xcsh.chat.Page
---@param message table
function M.orphan(page, message)
  local status = message.isError == true and 'failed' or 'done'
  M.add(page, { name = message.toolName }, { status = status, output = message })
end

return M
