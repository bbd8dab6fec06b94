-- The tree of a session, in pages. The server folds it into runs, entries without branches between
-- them, so that the cost follows the number of branches and not the length of the session.

local client = require('xcsh.client')
local wire = require('xcsh.wire')

local M = {}

M.page = 1000 -- nodes of one request
local max_pages = 20
---Entries at the beginning of a run in which its first message is searched, and such runs.
local max_beginning, max_beginnings = 20, 200

---@class xcsh.tree.Subject
---@field cwd string
---@field source? string

---Requests nodes. Fails with the server's error. Only within M.run.
---@param subject xcsh.tree.Subject
---@param args table<string, any>
---@return xcsh.TreeNode[] nodes, string? next_cursor
function M.read(subject, args)
  local thread = coroutine.running()
  local answer, waits
  args = vim.tbl_extend('error', { cwd = subject.cwd, source = subject.source }, args)
  client.execute('xcsh.tree', args, function(err, result)
    answer = { err = err, result = wire.tbl(result) }
    if waits then
      coroutine.resume(thread)
    end
  end)
  if not answer then
    waits = true
    coroutine.yield()
  end
  if answer.err then
    error(answer.err, 0)
  end
  local cursor = wire.str(answer.result.next)
  return wire.tbl(answer.result.nodes), cursor ~= '' and cursor or nil
end

---Runs a function that reads, and calls back with its error or result.
---@generic T
---@param read fun(): T
---@param callback fun(err: xcsh.Error?, result: T?)
function M.run(read, callback)
  local thread = coroutine.create(function()
    local ok, result = pcall(read)
    vim.schedule(function()
      if ok then
        callback(nil, result)
      else
        callback(type(result) == 'table' and result or { message = tostring(result) })
      end
    end)
  end)
  coroutine.resume(thread)
end

---@class xcsh.tree.Runs
---@field subject xcsh.tree.Subject
---@field list xcsh.TreeNode[]
---@field children table<string, xcsh.TreeNode[]>
---@field nodes table<string, xcsh.TreeNode>
---@field read integer beginnings that were read

---Reads all runs; nil if there are too many.
---@param subject xcsh.tree.Subject
---@return xcsh.tree.Runs?
local function runs_of(subject)
  local runs = { subject = subject, list = {}, children = {}, nodes = {}, read = 0 }
  local args = { fold = true, limit = M.page }
  for _ = 1, max_pages do
    local nodes, cursor = M.read(subject, args)
    for _, node in ipairs(nodes) do
      table.insert(runs.list, node)
      runs.nodes[node.id] = node
      local parent = wire.str(node.parentId)
      runs.children[parent] = runs.children[parent] or {}
      table.insert(runs.children[parent], node)
    end
    if not cursor then
      return runs
    end
    args = { fold = true, limit = M.page, cursor = cursor }
  end
end

---Returns the entries of a run up to its first message, which is the last one if there is any.
---@param runs xcsh.tree.Runs
---@param run xcsh.TreeNode
---@return xcsh.TreeNode[]
---@return boolean complete the run has no further entries before its first message
local function beginning(runs, run)
  local entries = { run }
  local count = math.max(1, wire.num(run.count))
  if run.type == 'message' or count == 1 then
    return entries, true
  elseif runs.read >= max_beginnings then
    return entries, false
  end
  runs.read = runs.read + 1
  local args = { under = run.id, limit = math.min(count - 1, max_beginning) }
  for _, entry in ipairs((M.read(runs.subject, args))) do
    entries[#entries + 1] = entry
    if entry.type == 'message' then
      return entries, true
    end
  end
  return entries, #entries >= count
end

---Returns the run that begins with a message, and nil if that message is not at its beginning.
---@param runs xcsh.tree.Runs
---@param entry_id string
---@return xcsh.TreeNode?
local function run_at(runs, entry_id)
  if runs.nodes[entry_id] then
    return runs.nodes[entry_id]
  end
  for _, run in ipairs(runs.list) do
    if run.type ~= 'message' and #runs.children[wire.str(run.parentId)] > 1 then
      local entries = beginning(runs, run)
      if entries[#entries].id == entry_id then
        return run
      end
    end
  end
end

---Returns the first message of a branch, which serves as its name.
---@param runs xcsh.tree.Runs
---@param run xcsh.TreeNode
local function first_message(runs, run)
  local entries, complete = beginning(runs, run)
  local below = runs.children[run.id]
  while complete and entries[#entries].type ~= 'message' and below do
    run = below[1]
    entries, complete = beginning(runs, run)
    below = runs.children[run.id]
  end
  return entries[#entries]
end

---Returns the last entry of the newest conversation of a branch.
---@param runs xcsh.tree.Runs
---@param run xcsh.TreeNode
local function newest_leaf(runs, run)
  local children = runs.children[run.id]
  while children do
    run = children[#children]
    children = runs.children[run.id]
  end
  local last = wire.str(run.lastId)
  return last ~= '' and last or run.id
end

---@class xcsh.tree.Branch
---@field node xcsh.TreeNode its first message
---@field leaf string its newest entry

---Finds the other branches that begin at a prompt.
---@param subject xcsh.tree.Subject
---@param entry_id string
---@param callback fun(err: xcsh.Error?, found: xcsh.tree.Branch[]?)
function M.alternatives(subject, entry_id, callback)
  M.run(function()
    local runs = runs_of(subject)
    if not runs then
      error({ message = 'This session has too many branches to find those of one message.' }, 0)
    end
    local found = {}
    local run = #runs.list > 1 and run_at(runs, entry_id) or nil
    -- Other entries, such as a model change, can lie between a prompt and the message before it; a
    -- branch can begin at any of them.
    while run do
      for _, other in ipairs(runs.children[wire.str(run.parentId)]) do
        if other ~= run then
          local branch = { node = first_message(runs, other), leaf = newest_leaf(runs, other) }
          table.insert(found, branch)
        end
      end
      run = runs.nodes[wire.str(run.parentId)]
      local entries, complete = {}, true
      if run then
        entries, complete = beginning(runs, run)
      end
      if run and (not complete or entries[#entries].type == 'message') then
        break
      end
    end
    return found
  end, callback)
end

return M
