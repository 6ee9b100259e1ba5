"""The record of a run in MLflow. Everything but `mlflow_record` works without MLflow installed."""
