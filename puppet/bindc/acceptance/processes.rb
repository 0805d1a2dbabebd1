# frozen_string_literal: true

# The processes of this machine, as Linux shows them.
module Processes
  # Those that a process has started as bindq serve.
  def self.children(parent)
    Dir['/proc/[0-9]*'].map { |dir| File.basename(dir).to_i }.select { |pid| child?(pid, parent) }
  end

  def self.child?(pid, parent)
    state, of = File.read("/proc/#{pid}/stat").rpartition(') ').last.split
    of.to_i == parent && state != 'Z' && command(pid)[1] == 'serve'
  rescue SystemCallError
    false # it has ended meanwhile
  end

  def self.command(pid)
    File.read("/proc/#{pid}/cmdline").split("\0")
  end
end
