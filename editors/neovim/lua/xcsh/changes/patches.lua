-- Changes as unified diffs: proposed ones, and those in the results of tool calls, which are all
-- that is known from a server without records. A hunk is looked for in the file as it is now,
-- because later changes move it.

local proposals = require('xcsh.review.proposal')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---The items that are listed at most.
M.most = 2000

---@class xcsh.changes.Hunk
---@field first integer the line in the new file, from 1
---@field added string[]
---@field removed string[]

---Returns the changed blocks of a unified diff, without their context.
---@param patch string
---@return xcsh.changes.Hunk[]
function M.hunks(patch)
  local hunks, hunk = {}, nil ---@type xcsh.changes.Hunk[], xcsh.changes.Hunk?
  local row ---@type integer?
  for _, line in ipairs(vim.split(patch, '\n', { plain = true })) do
    local first, count = line:match('^@@ %-%d+,?%d* %+(%d+),?(%d*) @@')
    local sign = line:sub(1, 1)
    if first then
      row = tonumber(first) + (count == '0' and 1 or 0)
      hunk = nil
    elseif row and (sign == '+' or sign == '-') then
      hunk = hunk or { first = row, added = {}, removed = {} }
      if hunks[#hunks] ~= hunk then
        hunks[#hunks + 1] = hunk
      end
      table.insert(sign == '+' and hunk.added or hunk.removed, line:sub(2))
      row = row + (sign == '+' and 1 or 0)
    elseif row and sign == ' ' then
      hunk = nil
      row = row + 1
    end
  end
  return hunks
end

---@param lines string[]
---@param part string[]
---@param first integer from 1
local function has(lines, part, first)
  for i, line in ipairs(part) do
    if (lines[first + i - 1] or ''):gsub('\r$', '') ~= line:gsub('\r$', '') then
      return false
    end
  end
  return first >= 1 and first + #part - 1 <= #lines
end

---Returns the line of a hunk in the file now: where its added lines are, the nearest to its place.
---@param lines string[]
---@param hunk xcsh.changes.Hunk
---@return integer
function M.locate(lines, hunk)
  for far = 0, #hunk.added > 0 and #lines or -1 do
    for _, first in ipairs({ hunk.first + far, hunk.first - far }) do
      if has(lines, hunk.added, first) then
        return first
      end
    end
  end
  return math.max(1, math.min(hunk.first, #lines))
end

---@param path string
---@return string[]
local function lines_of(path)
  local bufnr = proposals.buffer(path)
  if bufnr then
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  end
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' or stat.size > 4 * 1024 * 1024 then
    return {}
  end
  local ok, lines = pcall(vim.fn.readfile, path)
  return ok and lines or {}
end

---Describes a hunk on one line: its size, and its first line.
---@param hunk xcsh.changes.Hunk
---@return string
function M.describe(hunk)
  local line = hunk.added[1] or hunk.removed[1] or ''
  local sign = #hunk.added > 0 and '+' or '-'
  local counts = ('+%d −%d'):format(#hunk.added, #hunk.removed)
  return ('%-8s %s %s'):format(counts, sign, text.one_line(vim.trim(line), 200))
end

---@class xcsh.changes.Change
---@field path string
---@field patch string
---@field proposed? boolean

---Returns the successful changes of the turn that the newest user message began.
---@param messages table[] of a snapshot, oldest first
---@return xcsh.changes.Change[] changes
---@return boolean ran a command ran, whose changes are unknown
function M.of_turn(messages)
  local first = 1
  for i, stored in ipairs(messages) do
    if wire.tbl(wire.tbl(stored).message).role == 'user' then
      first = i
    end
  end
  local calls, changes, ran = {}, {}, false
  for i = first, #messages do
    local message = wire.tbl(wire.tbl(messages[i]).message)
    for _, block in ipairs(wire.tbl(message.content)) do
      block = wire.tbl(block)
      if block.type == 'toolCall' then
        calls[wire.str(block.id)] = wire.tbl(block.arguments)
      end
    end
    local args = message.role == 'toolResult' and calls[wire.str(message.toolCallId)]
    if args and message.isError ~= true then
      local path, patch = wire.str(args.path), wire.str(wire.tbl(message.details).patch)
      ran = ran or wire.str(args.command) ~= ''
      if patch == '' and message.toolName == 'write' then
        -- The result of write has no diff: all lines are new.
        local lines = proposals.lines(wire.str(args.content))
        patch = ('@@ -0,0 +1,%d @@\n+%s'):format(#lines, table.concat(lines, '+'))
      end
      if path ~= '' and patch ~= '' and not path:find('[%c]') then
        changes[#changes + 1] = { path = path, patch = patch }
      end
    end
  end
  return changes, ran
end

---Returns the items of a quickfix list.
---@param cwd string
---@param changes xcsh.changes.Change[]
---@return table[]
function M.items(cwd, changes)
  local items, lines, seen = {}, {}, {}
  for _, change in ipairs(changes) do
    local path = change.path:gsub('^~/', vim.env.HOME .. '/')
    path = vim.fs.normalize(path:find('^/') and path or vim.fs.joinpath(cwd, path))
    lines[path] = lines[path] or lines_of(path)
    for _, hunk in ipairs(M.hunks(change.patch)) do
      local row = change.proposed and hunk.first or M.locate(lines[path], hunk)
      local said = M.describe(hunk)
      local name = ('%s:%d:%s'):format(path, row, said)
      if #items < M.most and not seen[name] then
        seen[name] = true
        items[#items + 1] = {
          filename = path,
          lnum = math.max(1, row),
          text = change.proposed and '[proposed] ' .. said or said,
        }
      end
    end
  end
  return items
end

return M
